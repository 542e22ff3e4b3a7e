// A DataVolume as a whole: its name, its two halves, and what may change.
#include "datavolume/admission/validate.hpp"

#include <algorithm>
#include <array>

#include "api/codec.hpp"
#include "api/kind.hpp"
#include "datavolume/dv/facts.hpp"

namespace berth::datavolume {
namespace {

using api::Cause;
using Causes = std::vector<Cause>;

constexpr std::size_t kNameMax = 253;

void append(Causes& out, Causes more) { std::ranges::move(more, std::back_inserter(out)); }

Cause invalid(std::string field, std::string message) {
    return {"FieldValueInvalid", std::move(message), std::move(field)};
}

// Amounts of a claim in the form that only depends on their value: "1024Mi" is "1Gi".
void normalise_amounts(json::Value& spec) {
    for (const char* claim : {"/pvc", "/storage"}) {
        for (const char* amounts : {"/resources/requests", "/resources/limits"}) {
            json::Value* found = json::find(spec, std::string(claim) + amounts);
            if (found == nullptr || !found->is_object()) continue;
            for (auto& [name, amount] : found->get_object()) {
                const std::string written = amount.is_string() ? std::string(amount.get_string()) : json::print(amount);
                const Result<std::int64_t> thousandths = milli_value(written);
                if (thousandths) amount = *thousandths;
            }
        }
    }
}

json::Value spec_of(const json::Value& dv, bool without_checkpoints) {
    const json::Value* found = json::find(dv, "/spec");
    json::Value out = found == nullptr ? json::Value(json::Object()) : *found;
    normalise_amounts(out);
    if (without_checkpoints) {
        json::erase(out, "/checkpoints");
        json::erase(out, "/finalCheckpoint");
    }
    return out;
}

// The one part of a spec that may change: the stages of an import that has stages.
bool is_staged(const json::Value& dv) {
    const json::Value* stages = json::find(dv, "/spec/checkpoints");
    const bool has_stages = stages != nullptr && stages->is_array() && !stages->get_array().empty();
    return has_stages &&
           (json::find(dv, "/spec/source/vddk") != nullptr || json::find(dv, "/spec/source/imageio") != nullptr);
}

Causes validate_update(const json::Value& dv, const json::Value& old) {
    const bool is_deleting = !json::text_at(dv, "/metadata/deletionTimestamp").empty();
    if (is_deleting || json::equal(spec_of(dv, is_staged(dv)), spec_of(old, is_staged(dv)))) return {};
    return {
        {"FieldValueDuplicate",
         "Cannot update DataVolume Spec: it is fixed once the DataVolume exists; delete it and create it again", "DataVolume.Spec"}
    };
}

void check_halves(Causes& out, const api::DataVolumeSpec& spec) {
    if (!spec.pvc && !spec.storage) {
        out.push_back(invalid("spec.pvc", "Missing Data volume PVC: state the claim in spec.pvc or spec.storage"));
    } else if (spec.pvc && spec.storage) {
        out.push_back(
            invalid("spec.pvc", "Duplicate storage definition, both target storage and target pvc defined: keep one")
        );
    } else if (spec.pvc) {
        append(out, validate_claim(spec, *spec.pvc, Stated::verbatim, "spec.pvc"));
    } else {
        append(out, validate_claim(spec, *spec.storage, Stated::rendered, "spec.storage"));
    }
}

}  // namespace

Causes validate(const json::Value& document, const json::Value* old) {
    if (old != nullptr) return validate_update(document, *old);
    const auto dv = api::decode<api::DataVolume>(document);
    if (!dv) return {invalid("spec", dv.error().message)};
    Causes out;
    if (dv->metadata.name.size() > kNameMax) {
        out.push_back(invalid("metadata.name", "Name cannot be longer than " + std::to_string(kNameMax) + " characters")
        );
    }
    check_halves(out, dv->spec);
    append(out, validate_source(dv->spec, "spec"));
    return out;
}

Causes validate_beside(const json::Value& document, const api::PersistentVolumeClaim& claim, bool adopts_claims) {
    const auto dv = api::decode<api::DataVolume>(document);
    if (!dv) return {};
    const api::OwnerReference* owner = claim.metadata.controller();
    if (owner != nullptr && owner->kind == api::kDataVolume.kind) return {};
    dv::View view{.dv = *dv, .claim = claim};
    view.settings.adopts_claims = adopts_claims;
    if (dv::claim_needs_no_work(view)) return {};
    const std::string name = dv->metadata.ns + "/" + dv->metadata.name;
    return {
        {"FieldValueDuplicate",
         "Destination PVC " + name + " already exists: delete the claim, or rename the DataVolume",
         "metadata.name"}
    };
}

}  // namespace berth::datavolume
