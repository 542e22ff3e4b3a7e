#include "datavolume/dv/facts.hpp"

#include "base/ranges.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::dv {
namespace {

// The words that a boolean annotation may be written with; anything else is as good as no annotation.
std::optional<bool> parse_bool(std::string_view text) {
    constexpr std::string_view kTrue[] = {"1", "t", "T", "TRUE", "true", "True"};
    constexpr std::string_view kFalse[] = {"0", "f", "F", "FALSE", "false", "False"};
    if (contains(kTrue, text)) return true;
    if (contains(kFalse, text)) return false;
    return {};
}

// Data that another DataVolume's worker left half written is not a disk, whoever is allowed to adopt it.
bool is_half_filled(const api::PersistentVolumeClaim& claim) {
    const std::string* phase = claim.metadata.annotation(kPodPhase);
    return phase != nullptr && *phase != "Succeeded";
}

bool may_adopt(const View& view) {
    const std::string* created_for = view.claim->metadata.annotation(kCreatedFor);
    if (created_for != nullptr && *created_for == view.dv.metadata.uid.value) return false;
    if (is_half_filled(*view.claim)) return false;
    const std::string* allowed = view.dv.metadata.annotation(kAllowAdoption);
    const std::optional<bool> asked = allowed == nullptr ? std::nullopt : parse_bool(*allowed);
    return asked.value_or(view.settings.adopts_claims);
}

}  // namespace

bool is_deleting(const View& view) { return view.dv.metadata.is_deleting(); }

bool has_claim(const View& view) { return view.claim.has_value(); }

bool claim_is_going(const View& view) { return view.claim && view.claim->metadata.is_deleting(); }

bool owns_claim(const View& view) { return view.claim && view.claim->metadata.is_controlled_by(view.dv.metadata.uid); }

bool claim_needs_no_work(const View& view) {
    if (!view.claim) return false;
    const std::string* populated_for = view.claim->metadata.annotation(kPopulatedFor);
    if (populated_for != nullptr && *populated_for == view.dv.metadata.name) return true;
    return may_adopt(view);
}

bool claim_is_foreign(const View& view) {
    if (!view.claim || owns_claim(view)) return false;
    return view.claim->metadata.controller() != nullptr || !claim_needs_no_work(view);
}

bool claim_wants_owner(const View& view) { return view.claim && !owns_claim(view) && !claim_is_foreign(view); }

bool is_prepopulated(const View& view) { return view.dv.metadata.annotation(kPrePopulated) != nullptr; }

bool source_is_unsupported(const View& view) {
    const std::string name = source_name(view.dv.spec);
    const std::string& content = view.dv.spec.content_type;
    const bool is_archive = content == "archive";
    return is_archive || (name != "http" && name != "blank");
}

bool cannot_render(const View& view) { return !render_claim(view.render).has_value(); }

bool create_was_refused(const View& view) { return view.failed_create.has_value(); }

bool exceeds_quota(const View& view) {
    return view.failed_create && view.failed_create->message.find("exceeded quota:") != std::string::npos;
}

std::string source_name(const api::DataVolumeSpec& spec) {
    if (spec.source_ref) return "sourceRef";
    if (!spec.source) return "an external populator";
    const api::DataVolumeSource& source = *spec.source;
    if (source.http) return "http";
    if (source.pvc) return "pvc";
    if (source.snapshot) return "snapshot";
    const std::pair<const json::Value&, const char*> others[] = {
        {source.blank,    "blank"   },
        {source.upload,   "upload"  },
        {source.registry, "registry"},
        {source.s3,       "s3"      },
        {source.gcs,      "gcs"     },
        {source.imageio,  "imageio" },
        {source.vddk,     "vddk"    },
    };
    for (const auto& [member, name] : others) {
        if (!member.is_null()) return name;
    }
    return "nothing";
}

}  // namespace berth::datavolume::dv
