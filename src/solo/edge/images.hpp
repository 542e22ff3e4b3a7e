// From an image reference to a root file system. There is no registry client: images come with Berth or lie on disk.
#pragma once

#include <map>
#include <string>

#include "solo/edge/data_dir.hpp"
#include "solo/edge/oci_spec.hpp"

namespace berth::solo {

class Images {
public:
    /// guest_archive  the containerDisk behind "berth.local/guest", an OCI archive; "" = none
    Images(DataPaths paths, std::string guest_archive)
        : paths_(std::move(paths)), guest_archive_(std::move(guest_archive)) {}

    /// The image behind a reference, its layers unpacked. Blocks; safe to call from several threads and processes.
    ///
    ///   berth.local/launcher, berth.local/worker   the machine's own /usr (any tag)
    ///   berth.local/guest                          the bundled containerDisk
    ///   oci:/abs/dir[:tag], oci-archive:/abs/file[:tag]
    ///   anything else                              D/images/<reference>, as a layout or an archive
    ///
    /// Errors  not_found: nothing there, with all that was tried; invalid: there, but no image of use
    Result<Image> resolve(const std::string& reference) const;

private:
    struct Place {
        std::string path;
        std::string tag;
    };
    [[nodiscard]] Result<std::vector<Place>> places_of(const std::string& reference) const;
    [[nodiscard]] Result<Image> load(const std::string& reference, const Place& place) const;
    [[nodiscard]] Result<void> unpack(const Place& place, const std::string& folder) const;

    DataPaths paths_;
    std::string guest_archive_;
};

}  // namespace berth::solo
