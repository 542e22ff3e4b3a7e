// A path below a volume, found without following what the volume's users may have put there.
#pragma once

#include <string>

#include "base/result.hpp"

namespace berth::solo {

/// Binds `sub_path` below `volume` onto `target`, which is made as a folder or a file to fit. A sub path that is not
/// there becomes a folder. The bind holds the very thing that was checked, so nobody can swap it for a link afterwards.
/// Errors  invalid: it leaves the volume or leads through a link; io
Result<void> bind_sub_path(const std::string& volume, const std::string& sub_path, const std::string& target);

}  // namespace berth::solo
