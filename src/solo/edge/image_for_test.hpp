// OCI images for tests: a few entries a layer, written as a layout or as an archive of one.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/unpack.hpp"

namespace berth::solo {

struct TestEntry {
    char type = 'f';  ///< f file, d folder, l symbolic link, h hard link
    std::string path;
    std::string text;  ///< content, or the link's target
    unsigned mode = 0644;
};

/// A folder that goes with the test.
struct TempFolder {
    std::string path = [] {
        const char* temp = std::getenv("TMPDIR");
        std::string made = std::string(temp == nullptr ? "/tmp" : temp) + "/berth-test-XXXXXX";
        return std::string(::mkdtemp(made.data()));
    }();
    TempFolder() = default;
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() { static_cast<void>(remove_tree(path)); }
};

inline std::string tar_of(const std::vector<TestEntry>& entries, bool gzip) {
    const TempFolder folder;
    const std::string file = folder.path + "/tar";
    const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
    archive_write_set_format_pax_restricted(out.get());
    if (gzip) archive_write_add_filter_gzip(out.get());
    archive_write_open_filename(out.get(), file.c_str());
    for (const TestEntry& each : entries) {
        const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
        archive_entry_set_pathname(entry.get(), each.path.c_str());
        archive_entry_set_perm(entry.get(), static_cast<mode_t>(each.mode));
        archive_entry_set_uid(entry.get(), ::geteuid());
        archive_entry_set_gid(entry.get(), ::getegid());
        archive_entry_set_filetype(entry.get(), each.type == 'd' ? AE_IFDIR : each.type == 'l' ? AE_IFLNK : AE_IFREG);
        if (each.type == 'l') archive_entry_set_symlink(entry.get(), each.text.c_str());
        if (each.type == 'h') archive_entry_set_hardlink(entry.get(), each.text.c_str());
        if (each.type == 'f') archive_entry_set_size(entry.get(), static_cast<la_int64_t>(each.text.size()));
        archive_write_header(out.get(), entry.get());
        if (each.type == 'f') archive_write_data(out.get(), each.text.data(), each.text.size());
    }
    archive_write_close(out.get());
    return read_file(file).value_or("");
}

/// Writes a blob into a layout and returns its digest.
inline std::string write_blob(const std::string& layout, const std::string& content) {
    const std::string hex = sha256_hex(content);
    static_cast<void>(make_dirs(layout + "/blobs/sha256", 0755));
    static_cast<void>(write_plain(layout + "/blobs/sha256/" + hex, content, 0644));
    return "sha256:" + hex;
}

/// Writes an image layout with these layers. Returns the digests of its layers.
inline std::vector<std::string> write_image(
    const std::string& layout,
    const std::vector<std::vector<TestEntry>>& layers,
    const std::string& config = R"({"config":{}})",
    const std::string& tag = "latest"
) {
    std::vector<std::string> digests;
    json::Array descriptors;
    for (const std::vector<TestEntry>& layer : layers) {
        digests.push_back(write_blob(layout, tar_of(layer, digests.size() % 2 == 0)));
        json::Object descriptor;
        descriptor["digest"] = digests.back();
        descriptors.push_back(json::Value(std::move(descriptor)));
    }
    json::Object manifest;
    manifest["config"] = json::Object{
        {"digest", write_blob(layout, config)}
    };
    manifest["layers"] = std::move(descriptors);
    const std::string digest = write_blob(layout, json::print(json::Value(std::move(manifest))));
    const std::string index = R"({"schemaVersion":2,"manifests":[{"digest":")" + digest +
                              R"(","annotations":{"org.opencontainers.image.ref.name":")" + tag + R"("}}]})";
    static_cast<void>(write_plain(layout + "/index.json", index, 0644));
    return digests;
}

}  // namespace berth::solo
