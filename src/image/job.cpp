#include "image/job.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/quantity.hpp"
#include "datavolume/names.hpp"

namespace berth::image {
namespace {

namespace fs = std::filesystem;

constexpr int kHeadersMax = 100;

std::string trimmed(std::string text) {
    const auto is_space = [](char c) { return c == '\r' || c == '\n' || c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.back())) text.pop_back();
    return text;
}

// Each file of each mounted Secret is one whole header line; the kubelet's own entries begin with "..".
std::vector<std::string> read_secret_headers(const std::string& root) {
    std::vector<std::string> out;
    for (int i = 0; i < kHeadersMax; ++i) {
        std::error_code failed;
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(fs::path(root) / std::to_string(i), failed)) {
            if (!entry.path().filename().string().starts_with("..")) files.push_back(entry.path());
        }
        if (failed) break;
        std::ranges::sort(files);
        for (const fs::path& file : files) {
            std::ostringstream text;
            text << std::ifstream(file).rdbuf();
            out.push_back(trimmed(text.str()));
        }
    }
    return out;
}

}  // namespace

Result<Job> read_job(const Lookup& lookup) {
    const auto text = [&](const char* name) { return lookup(name).value_or(""); };
    const auto place = [&](const char* name, std::string& where) {
        if (const auto value = lookup(name)) where = *value;
    };
    Job job;
    job.source = text("IMPORTER_SOURCE");
    job.endpoint = text("IMPORTER_ENDPOINT");
    if (const std::string content = text("IMPORTER_CONTENTTYPE"); !content.empty()) job.content_type = content;
    TRY(job.image_size, to_bytes(Quantity{lookup("IMPORTER_IMAGE_SIZE").value_or("0")}));
    const std::string overhead = lookup("FILESYSTEM_OVERHEAD").value_or("0.06");
    const auto read = datavolume::parse_overhead(overhead);
    if (!read)
        return fail(
            ErrorKind::invalid,
            "FILESYSTEM_OVERHEAD \"" + overhead + "\" is not a fraction from 0 to 1 with at most 3 decimals"
        );
    job.overhead = *read;
    job.claim_uid = text("BERTH_CLAIM_UID");
    job.owner_uid = text("OWNER_UID");
    job.preallocates = text("PREALLOCATION") == "true";
    job.is_thin = text("BERTH_THIN_VOLUME") == "true";
    job.trusts_any_certificate = text("INSECURE_TLS") == "true";
    job.checksum = text("IMPORTER_CHECKSUM");
    job.user = text("IMPORTER_ACCESS_KEY_ID");
    job.password = text("IMPORTER_SECRET_KEY");
    job.cert_dir = text("IMPORTER_CERT_DIR");
    for (int i = 0; i < kHeadersMax; ++i) {
        const auto line = lookup("IMPORTER_EXTRA_HEADER_" + std::to_string(i));
        if (!line) break;
        job.headers.push_back(trimmed(*line));
    }
    std::string secret_headers = datavolume::kSecretHeaderDir;
    place("BERTH_SECRET_HEADER_DIR", secret_headers);
    job.secret_headers = read_secret_headers(secret_headers);
    place("BERTH_DISK_FILE", job.disk_file);
    place("BERTH_BLOCK_DEVICE", job.block_device);
    place("BERTH_SPOOL_DIR", job.spool_dir);
    place("BERTH_STATE_DIR", job.state_dir);
    place("BERTH_RECORD_DIR", job.record_dir);
    place("BERTH_TERMINATION_LOG", job.termination_log);
    return job;
}

}  // namespace berth::image
