#include "solo/edge/images.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "solo/edge/files.hpp"
#include "solo/edge/image_source.hpp"
#include "solo/edge/unpack.hpp"

namespace berth::solo {
namespace {

constexpr std::string_view kOwnPrefix = "berth.local/";

/// A reference and its tag; a colon before the last slash is a port.
std::pair<std::string, std::string> split_tag(const std::string& reference) {
    const std::size_t colon = reference.rfind(':');
    const std::size_t slash = reference.rfind('/');
    if (colon == std::string::npos || (slash != std::string::npos && colon < slash)) return {reference, ""};
    return {reference.substr(0, colon), reference.substr(colon + 1)};
}

bool leaves_its_folder(const std::string& reference) {
    const std::string walled = "/" + reference + "/";
    return reference.empty() || reference.front() == '/' || walled.find("/../") != std::string::npos;
}

std::vector<std::string> texts_at(const json::Value& root, std::string_view pointer) {
    std::vector<std::string> out;
    const json::Value* at = json::find(root, pointer);
    if (at == nullptr || !at->is_array()) return out;
    for (const json::Value& each : at->as_array()) {
        if (each.is_string()) out.emplace_back(each.as_string());
    }
    return out;
}

/// A containerDisk is an image with files in /disk and no program to run.
bool is_disk_image(const std::string& tree) {
    if (list_dir(tree + "/disk").empty()) return false;
    return !exists(tree + "/bin") && !exists(tree + "/usr");
}

Image image_of(
    const std::string& reference, const std::string& digest, const std::string& tree, const json::Value& config
) {
    Image out;
    out.reference = reference;
    out.id = digest;
    out.tree = tree;
    out.is_disk = is_disk_image(tree);
    out.userland = out.is_disk ? Userland::host_usr : Userland::own;
    out.entry_point = texts_at(config, "/config/Entrypoint");
    for (std::string& word : texts_at(config, "/config/Cmd")) out.entry_point.push_back(std::move(word));
    out.env = texts_at(config, "/config/Env");
    out.working_dir = json::text_at(config, "/config/WorkingDir");
    return out;
}

}  // namespace

Result<std::vector<Images::Place>> Images::places_of(const std::string& reference) const {
    const auto [plain, tag] = split_tag(reference);
    std::vector<Place> out;
    if (plain == "berth.local/guest") {
        if (guest_archive_.empty()) {
            return fail(
                ErrorKind::not_found,
                "image \"" + reference +
                    "\": the guest disk is not part of this installation; build it with ./dev build"
            );
        }
        out.push_back({guest_archive_, ""});
        return out;
    }
    for (const std::string_view scheme : {"oci:", "oci-archive:"}) {
        if (!reference.starts_with(scheme)) continue;
        const auto [path, path_tag] = split_tag(reference.substr(scheme.size()));
        if (!path.starts_with("/")) {
            return fail(
                ErrorKind::invalid,
                "image \"" + reference + "\": the path must be absolute: " + std::string(scheme) + "/path[:tag]"
            );
        }
        out.push_back({path, path_tag});
        return out;
    }
    if (leaves_its_folder(reference)) {
        return fail(
            ErrorKind::invalid,
            "image \"" + reference + "\": not a reference; use a name below " + paths_.images() +
                ", oci:/dir or oci-archive:/file"
        );
    }
    for (const char* ending : {"", ".tar", ".oci.tar"}) out.push_back({paths_.images() + "/" + reference + ending, ""});
    if (tag.empty()) return out;
    for (const char* ending : {"", ".tar", ".oci.tar"}) out.push_back({paths_.images() + "/" + plain + ending, tag});
    return out;
}

Result<Image> Images::resolve(const std::string& reference) const {
    const std::string plain = split_tag(reference).first;
    if (plain == "berth.local/launcher" || plain == "berth.local/worker")
        return Image{.reference = reference, .id = plain};
    TRY(const std::vector<Place> places, places_of(reference));
    std::string tried;
    for (const Place& place : places) {
        Result<Image> image = load(reference, place);
        if (image) return image;
        if (image.error().kind != ErrorKind::not_found) return within("image \"" + reference + "\"", image.error());
        tried += (tried.empty() ? "" : "; ") + image.error().message;
    }
    const bool is_own = plain.starts_with(kOwnPrefix);
    const std::string remedy = is_own ? "berth.local has launcher, worker and guest"
                                      : "registries are not asked: put the image there with skopeo copy docker://" +
                                            reference + " oci:" + places.front().path;
    return fail(ErrorKind::not_found, "image \"" + reference + "\" not found: " + tried + ": " + remedy);
}

Result<Image> Images::load(const std::string& reference, const Place& place) const {
    TRY(const std::unique_ptr<ImageSource> source, open_image_source(place.path));
    const Result<ImageManifest> manifest = read_manifest(*source, place.tag);
    if (!manifest) return within("\"" + place.path + "\"", manifest.error());
    TRY(const std::string blob, blob_path(manifest->digest));
    const std::string folder = paths_.image_cache() + "/sha256-" + blob.substr(blob.rfind('/') + 1);
    const std::string tree = folder + "/rootfs";
    if (!exists(folder)) {
        if (const Result<void> done = unpack(place, folder); !done)
            return within("\"" + place.path + "\"", done.error());
    }
    return image_of(reference, manifest->digest, tree, manifest->config);
}

Result<void> Images::unpack(const Place& place, const std::string& folder) const {
    TRY_DO(make_dirs(paths_.image_cache(), 0700));
    const std::string lock_path = paths_.image_cache() + "/lock";
    const Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open()) return fail_errno("open \"" + lock_path + "\"", errno);
    while (::flock(lock.get(), LOCK_EX) != 0) {  // one at a time: whoever waited finds it done
        if (errno != EINTR) return fail_errno("lock \"" + lock_path + "\"", errno);
    }
    if (exists(folder)) return {};
    const std::string temp = paths_.image_cache() + "/.unpacking";
    TRY_DO(remove_tree(temp));  // of a process that was killed
    TRY_DO(make_dirs(temp + "/rootfs", 0755));
    TRY(const std::unique_ptr<ImageSource> source, open_image_source(place.path));
    TRY(const ImageManifest manifest, read_manifest(*source, place.tag));
    for (const std::string& layer : manifest.layers) TRY_DO(unpack_layer(*source, layer, temp + "/rootfs"));
    const Fd made(::open(temp.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Its content must be on disk before its name says that it is whole.
    if (!made.is_open() || ::syncfs(made.get()) != 0) return fail_errno("sync \"" + temp + "\"", errno);
    if (::rename(temp.c_str(), folder.c_str()) != 0) return fail_errno("rename to \"" + folder + "\"", errno);
    return {};
}

}  // namespace berth::solo
