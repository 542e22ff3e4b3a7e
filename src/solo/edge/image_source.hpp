// An OCI image layout on disk, as a directory or as a tar archive: its index, its small documents, its layers.
// Source: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"

namespace berth::solo {

/// A file of a layout, in pieces.
class BlobReader {
public:
    virtual ~BlobReader() = default;
    /// The next piece, good until the next call; empty at the end.
    virtual Result<std::string_view> next() = 0;
};

class ImageSource {
public:
    virtual ~ImageSource() = default;

    /// Opens a file of the layout ("index.json", "blobs/sha256/…"). Errors  not_found
    virtual Result<std::unique_ptr<BlobReader>> open(const std::string& path) = 0;
};

/// A small file of a layout. Errors  not_found; invalid: larger than 4 MiB
Result<std::string> read_document(ImageSource& source, const std::string& path);

/// Opens a layout. Errors  not_found: nothing there; invalid: neither a layout nor an archive of one
Result<std::unique_ptr<ImageSource>> open_image_source(const std::string& path);

/// "sha256:<64 hex digits>" as a path inside a layout. Errors  invalid
Result<std::string> blob_path(std::string_view digest);

struct ImageManifest {
    std::string digest;               ///< of the manifest itself
    json::Value config;               ///< the image's configuration document
    std::vector<std::string> layers;  ///< digests, bottom first
};

/// The manifest for a tag ("" = the only one, or the one for this machine), with digests checked.
/// Errors  not_found: no such tag, with those there are; invalid
Result<ImageManifest> read_manifest(ImageSource& source, const std::string& tag);

}  // namespace berth::solo
