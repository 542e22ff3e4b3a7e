// What checks and verbs of machines look at besides the object: the installation's settings, the instance of a VM.
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// Records as they are now. They must live as long as what was made from them is used.
struct Around {
    store::RecordPtr kubevirt;  ///< the first of its kind: an installation has one
    store::RecordPtr vmi;       ///< of this name

    [[nodiscard]] Surroundings seen_by(const kube::User& user) const;
};

/// For kinds other than VMs there is no instance to be found.
Around around(const Core& core, const api::Kind& kind, const std::string& ns, const std::string& name);

inline const json::Value* document_of(const store::RecordPtr& record) { return record ? &record->document : nullptr; }

}  // namespace berth::apiserver
