#include "image/record.hpp"

#include "base/hash.hpp"
#include "image/file.hpp"
#include "json/value.hpp"

namespace berth::image {
namespace {

constexpr std::int64_t kFormatVersion = 1;

std::string record_path(const Job& job) { return job.record_dir + "/" + job.claim_uid + ".json"; }
std::string verdict_path(const Job& job) { return job.state_dir + "/verdict.json"; }

}  // namespace

std::string source_id(const Job& job) {
    return sha1_hex(job.source + "\n" + job.endpoint + "\n" + job.checksum + "\n" + job.content_type);
}

std::optional<Completion> find_completion(const Job& job) {
    if (job.record_dir.empty() || job.claim_uid.empty()) return {};
    const auto read = json::parse(read_small_file(record_path(job)));
    if (!read || json::integer_at(*read, "/version") != kFormatVersion) return {};
    Completion out{
        .claim_uid = std::string(json::text_at(*read, "/claimUid")),
        .source = std::string(json::text_at(*read, "/source")),
        .validator = std::string(json::text_at(*read, "/validator")),
        .source_bytes = json::integer_at(*read, "/sourceBytes").value_or(0),
        .virtual_size = {json::integer_at(*read, "/virtualSize").value_or(0)},
        .data_bytes = {json::integer_at(*read, "/dataBytes").value_or(0)},
        .digest = std::string(json::text_at(*read, "/digest")),
        .checksum = std::string(json::text_at(*read, "/checksum")),
        .is_preallocated = json::bool_at(*read, "/preallocated"),
    };
    if (out.claim_uid != job.claim_uid || out.source != source_id(job)) return {};
    return out;
}

Result<void> write_completion(const Job& job, const Completion& completion) {
    if (job.record_dir.empty() || job.claim_uid.empty()) return {};
    const json::Value document = json::Object{
        {"version",      kFormatVersion               },
        {"claimUid",     completion.claim_uid         },
        {"source",       completion.source            },
        {"validator",    completion.validator         },
        {"sourceBytes",  completion.source_bytes      },
        {"virtualSize",  completion.virtual_size.value},
        {"dataBytes",    completion.data_bytes.value  },
        {"digest",       completion.digest            },
        {"checksum",     completion.checksum          },
        {"preallocated", completion.is_preallocated   },
    };
    return replace_file(record_path(job), json::print(document) + "\n");
}

void remember_verdict(const Job& job, const std::string& validator, Bytes available, const Error& error) {
    if (job.state_dir.empty() || validator.empty()) return;
    const json::Value document = json::Object{
        {"source",    source_id(job) },
        {"validator", validator      },
        {"available", available.value},
        {"message",   error.message  },
    };
    // Without it the next try only costs more.
    static_cast<void>(replace_file(verdict_path(job), json::print(document)));
}

std::optional<Error> recall_verdict(const Job& job, const std::string& validator, Bytes available) {
    if (job.state_dir.empty() || validator.empty()) return {};
    const auto read = json::parse(read_small_file(verdict_path(job)));
    if (!read || json::text_at(*read, "/source") != source_id(job) || json::text_at(*read, "/validator") != validator ||
        json::integer_at(*read, "/available") != available.value) {
        return {};
    }
    return Error{ErrorKind::invalid, std::string(json::text_at(*read, "/message"))};
}

}  // namespace berth::image
