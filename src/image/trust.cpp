#include "image/trust.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "image/file.hpp"

namespace berth::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemBundle = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* kSystemFiles =
    "/usr/share/ca-certificates/mozilla";  // where /etc has no bundle, as in a worker's image

std::string read_directory(const std::string& directory) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(directory, failed)) {
        if (!entry.path().filename().string().starts_with("..") && entry.is_regular_file(failed))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::string out;
    for (const fs::path& file : files) {
        const std::string text = read_small_file(file.string());
        if (text.find("-----BEGIN") == std::string::npos) continue;
        out += text;
        if (!out.ends_with('\n')) out += '\n';
    }
    return out;
}

}  // namespace

Result<std::string> read_trust_anchors(const std::string& directory) {
    std::string out = read_small_file(kSystemBundle);
    if (out.empty()) out = read_directory(kSystemFiles);
    if (directory.empty()) return out;
    const std::string own = read_directory(directory);
    if (own.empty()) {
        return fail(ErrorKind::invalid, "certConfigMap has no certificate: put PEM text into one of its keys");
    }
    return out + own;
}

}  // namespace berth::image
