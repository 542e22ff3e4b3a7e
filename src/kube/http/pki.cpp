// Which certificates an installation keeps, and when it makes them anew.
#include "kube/http/pki.hpp"

#include <unistd.h>

#include "base/ranges.hpp"
#include "kube/http/files.hpp"

namespace berth::kube::http {
namespace {

namespace fs = std::filesystem;

Result<void> keep_pair(const fs::path& directory, const std::string& name, const KeyPair& pair) {
    // The key first: a certificate without its key would look like a pair that does not fit.
    TRY_DO(write_file(directory / (name + ".key"), pair.key_pem));
    return write_file(directory / (name + ".crt"), pair.certificate_pem);
}

// What cannot be read is made anew like what is missing; a directory that cannot be written says so then.
KeyPair load_pair(const fs::path& directory, const std::string& name) {
    return {
        read_file(directory / (name + ".crt")).value_or(""),
        read_file(directory / (name + ".key")).value_or(""),
    };
}

Result<KeyPair> keep_authority(const fs::path& directory, Timestamp now) {
    KeyPair known = load_pair(directory, "ca");
    if (is_good(known, known.certificate_pem, {}, now)) return known;
    KeyPair made = make_authority(now);
    TRY_DO(keep_pair(directory, "ca", made));
    return made;
}

Result<KeyPair> keep_leaf(
    const fs::path& directory, const std::string& name, const KeyPair& authority, const Subject& subject, Timestamp now
) {
    KeyPair known = load_pair(directory, name);
    if (is_good(known, authority.certificate_pem, subject, now)) return known;
    TRY(KeyPair made, issue(authority, subject, now));
    TRY_DO(keep_pair(directory, name, made));
    return made;
}

std::string machine_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::vector<std::string> all_names(std::vector<std::string> given) {
    std::vector<std::string> names = {
        "127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"
    };
    given.push_back(machine_name());
    for (std::string& name : given) {
        if (!name.empty() && !contains(names, name)) names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

Result<Pki> load_or_create_pki(const fs::path& directory, std::vector<std::string> names, Timestamp now) {
    std::error_code error;
    fs::create_directories(directory, error);
    if (!error) fs::permissions(directory, fs::perms::owner_all, error);
    if (error) {
        return fail(
            ErrorKind::io,
            "make \"" + directory.string() + "\": " + error.message() + ": choose a directory you may write"
        );
    }
    const Subject server{.common_name = "berth-apiserver", .names = all_names(std::move(names))};
    const Subject admin{.common_name = "admin", .organizations = {"system:masters"}};
    TRY(const KeyPair authority, keep_authority(directory, now));
    TRY(KeyPair server_pair, keep_leaf(directory, "server", authority, server, now));
    TRY(KeyPair admin_pair, keep_leaf(directory, "admin", authority, admin, now));
    return Pki{authority.certificate_pem, std::move(server_pair), std::move(admin_pair)};
}

}  // namespace berth::kube::http
