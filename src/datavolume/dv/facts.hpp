// Questions about a DataVolume's view.
#pragma once

#include "datavolume/dv/view.hpp"

namespace berth::datavolume::dv {

bool is_deleting(const View& view);

bool has_claim(const View& view);
bool claim_is_going(const View& view);
/// The DataVolume is the claim's controller.
bool owns_claim(const View& view);
/// Nobody is to fill the claim: it says so itself, or may be adopted as it is.
bool claim_needs_no_work(const View& view);
/// Someone else's claim has our name.
bool claim_is_foreign(const View& view);
/// Ours to keep as it is, but without an owner yet.
bool claim_wants_owner(const View& view);

bool is_prepopulated(const View& view);
bool source_is_unsupported(const View& view);
bool cannot_render(const View& view);
/// The last try to create the claim failed.
bool create_was_refused(const View& view);
bool exceeds_quota(const View& view);

/// "upload", "pvc", …: what the DataVolume asks to be filled from.
std::string source_name(const api::DataVolumeSpec& spec);

}  // namespace berth::datavolume::dv
