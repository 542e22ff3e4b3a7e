// The claim of a DataVolume: size, modes, class, and another populator's data source.
#include "datavolume/admission/validate.hpp"

namespace berth::datavolume {
namespace {

using api::Cause;
using Causes = std::vector<Cause>;

constexpr std::size_t kNameMax = 253;
constexpr const char* kSizeAt = ".resources.requests.storage";

bool is_copy(const api::DataVolumeSpec& spec) {
    return spec.source_ref || (spec.source && (spec.source->pvc || spec.source->snapshot));
}

void check_size(
    Causes& out, const api::DataVolumeSpec& spec, const api::ClaimSpec& claim, Stated stated, const std::string& field
) {
    const std::string what = stated == Stated::verbatim ? "PVC size" : "Storage size";
    const auto refuse = [&](const std::string& why) {
        out.push_back({"FieldValueInvalid", what + " " + why, field + kSizeAt});
    };
    const auto asked = claim.resources.requests.find("storage");
    if (asked == claim.resources.requests.end() || asked->second.empty()) {
        // A copy is as large as what it is copied from.
        if (stated == Stated::verbatim || !is_copy(spec)) refuse("is missing: set resources.requests.storage");
        return;
    }
    const Bytes size = bytes_or_zero(asked->second);  // a text that is no quantity does not decode
    if (size.value <= 0) {
        refuse("can't be equal or less than zero");
    } else if (size < 1_MiB) {
        refuse("should be at least 1MiB");
    }
}

void check_modes(Causes& out, const api::ClaimSpec& claim, Stated stated, const std::string& field) {
    if (stated == Stated::rendered) return;
    if (claim.access_modes.empty()) {
        out.push_back(api::required(field + ".accessModes", "at least 1 access mode is required"));
    } else if (claim.access_modes.size() > 1) {
        out.push_back({"FieldValueInvalid", "PVC multiple accessModes: name exactly one", field + ".accessModes"});
    }
}

void check_reference(Causes& out, const std::optional<api::TypedReference>& reference, const std::string& field) {
    if (!reference) return;
    if (!reference->ns.empty()) {
        out.push_back(
            {"FieldValueInvalid",
             "Invalid value: DataSourceRef namespace not supported: remove it, and use an object of the same namespace",
             field + ".namespace"}
        );
    }
    if (reference->kind.empty()) out.push_back(api::required(field + ".kind", "the kind of the data source"));
    if (reference->name.empty()) out.push_back(api::required(field + ".name", "the name of the data source"));
    if (reference->api_group.empty() && reference->kind != "PersistentVolumeClaim") {
        out.push_back(api::required(field + ".apiGroup", "only a PersistentVolumeClaim is without a group"));
    }
}

}  // namespace

Causes validate_claim(
    const api::DataVolumeSpec& spec, const api::ClaimSpec& claim, Stated stated, const std::string& field
) {
    Causes out;
    check_size(out, spec, claim, stated, field);
    check_modes(out, claim, stated, field);
    if (claim.storage_class_name.value_or("").size() > kNameMax) {
        out.push_back(
            {"FieldValueInvalid",
             "Name cannot be longer than " + std::to_string(kNameMax) + " characters",
             field + ".storageClassName"}
        );
    }
    if (!claim.data_source && !claim.data_source_ref) return out;
    if (spec.source || spec.source_ref) {
        out.push_back(
            {"FieldValueInvalid",
             "External population is incompatible with Source and SourceRef: keep one of them",
             field + ".dataSource"}
        );
        return out;
    }
    if (claim.data_source && claim.data_source_ref && *claim.data_source != *claim.data_source_ref) {
        out.push_back({"FieldValueInvalid", "DataSourceRef and DataSource must match: keep one", field + ".dataSource"}
        );
    }
    if (claim.data_source_ref) {
        check_reference(out, claim.data_source_ref, field + ".dataSourceRef");
    } else {
        check_reference(out, claim.data_source, field + ".dataSource");
    }
    return out;
}

}  // namespace berth::datavolume
