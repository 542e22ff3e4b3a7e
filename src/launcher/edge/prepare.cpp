// See prepare.hpp.
#include "launcher/edge/prepare.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "launcher/edge/child.hpp"
#include "launcher/edge/source_probe.hpp"
#include "launcher/plan/image_probe.hpp"

namespace berth::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto kImageToolLimit = 30s;

bool exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

std::unexpected<Error> failed(const std::string& what, const std::string& path) {
    return fail(ErrorKind::io, what + " " + path + ": " + std::strerror(errno));
}

// Makes a file under another name first: a crash leaves no half of one.
Result<void> put_in_place(const std::string& path, const std::string& temporary) {
    if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename to", path);
    return {};
}

Result<void> make_sparse(const std::string& path, std::int64_t size) {
    if (exists(path)) return {};
    const std::string temporary = path + ".new";
    const int fd = ::open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0660);
    if (fd < 0) return failed("create", temporary);
    const bool is_done = ::ftruncate(fd, size) == 0 && ::fsync(fd) == 0;
    ::close(fd);
    if (!is_done) return failed("give a size to", temporary);
    return put_in_place(path, temporary);
}

Result<std::string> format_of(const std::string& image) {
    std::ifstream in(image, std::ios::binary);
    std::string head(kProbeLength, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (in.bad() || !in.is_open()) return failed("read", image);
    head.resize(static_cast<std::size_t>(in.gcount()));
    return image_format(head);
}

Result<void> make_overlay(const std::string& path, const Overlay& overlay) {
    if (exists(path)) return {};
    std::string format = overlay.format;
    if (format.empty()) {
        TRY(format, format_of(overlay.image));
    }
    const std::string temporary = path + ".new";
    auto said = run_program(
        {"qemu-img", "create", "-q", "-f", "qcow2", "-b", overlay.image, "-F", format, temporary}, kImageToolLimit
    );
    if (!said) return std::unexpected(std::move(said).error());
    return put_in_place(path, temporary);
}

// A Secret's key is written as the API names it, or as one word.
Result<std::string> read_secret(const std::string& folder, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        std::ifstream in(folder + "/" + name, std::ios::binary);
        if (in.is_open()) return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    return fail(
        ErrorKind::invalid,
        "the secret has no key \"" + std::string(*names.begin()) + "\": add it and start the machine again"
    );
}

Result<void> write_seed(const std::string& path, Seed seed) {
    if (exists(path)) return {};
    if (!seed.user_data_folder.empty()) {
        TRY(seed.user_data, read_secret(seed.user_data_folder, {"userdata", "userData"}));
    }
    if (!seed.network_data_folder.empty()) {
        TRY(seed.network_data, read_secret(seed.network_data_folder, {"networkdata", "networkData"}));
    }
    const std::string temporary = path + ".new";
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out << seed_image(seed);
        if (!out.flush()) return failed("write", temporary);
    }
    return put_in_place(path, temporary);
}

struct Make {
    const std::string& path;

    Result<void> operator()(const Present&) const { return {}; }
    Result<void> operator()(const SparseFile& file) const { return make_sparse(path, file.size); }
    Result<void> operator()(const Overlay& overlay) const { return make_overlay(path, overlay); }
    Result<void> operator()(const Seed& seed) const { return write_seed(path, seed); }
};

}  // namespace

std::vector<std::string> missing_files(const std::vector<MachineDisk>& disks) {
    std::vector<std::string> out;
    for (const MachineDisk& disk : disks) {
        if (const auto* overlay = std::get_if<Overlay>(&disk.preparation)) {
            if (!has_content(overlay->image)) out.push_back(overlay->image);
        } else if (disk.is_plugged()) {
            if (!has_content(disk.path)) out.push_back(disk.path);
        } else if (std::holds_alternative<Present>(disk.preparation) && !disk.path.empty() && !exists(disk.path)) {
            out.push_back(disk.path);
        }
    }
    return out;
}

Result<Prepared> prepare(const std::vector<MachineDisk>& disks) {
    Prepared out;
    for (const MachineDisk& disk : disks) {
        if (disk.path.empty()) continue;
        if (!std::holds_alternative<Present>(disk.preparation)) {
            std::error_code ignored;  // what cannot be made shows at the file
            std::filesystem::create_directories(std::filesystem::path(disk.path).parent_path(), ignored);
        }
        const Result<void> made = std::visit(Make{disk.path}, disk.preparation);
        if (!made) return within("prepare disk \"" + disk.spec.name + "\"", made.error());
        if (!takes_direct_io(disk.path)) out.without_direct_io.insert(disk.path);
    }
    return out;
}

}  // namespace berth::launcher
