// The keys of a self-contained installation: one authority, the server's certificate and the administrator's.
// Elliptic curve keys (prime256v1) throughout. A cluster brings its own and does not use this.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace berth::kube::http {

struct KeyPair {
    std::string certificate_pem;
    std::string key_pem;
    bool operator==(const KeyPair&) const = default;
};

/// Who a certificate is for.
struct Subject {
    std::string common_name;
    std::vector<std::string> organizations;  ///< groups, for a client
    std::vector<std::string> names;          ///< DNS names and addresses, for a server
};

/// A new authority, valid for ten years.
KeyPair make_authority(Timestamp now);
/// A server certificate when the subject has names, else a client certificate; valid for one year.
/// Errors  invalid: the authority is not PEM, or a name is none
Result<KeyPair> issue(const KeyPair& authority, const Subject& subject, Timestamp now);
/// True when the pair fits together, comes from this authority, has these names and is valid for 30 more days.
bool is_good(const KeyPair& pair, const std::string& authority_pem, const Subject& subject, Timestamp now);

struct Pki {
    std::string authority_pem;
    KeyPair server;
    KeyPair admin;  ///< system:masters
};

/// What the directory holds; what is missing, unreadable or ends within 30 days is made anew and kept there
/// (ca.crt, ca.key, server.crt, …; files 0600, directory 0700). `names` are added to 127.0.0.1, ::1, localhost,
/// kubernetes.default.svc and the machine's own name. Errors  io: the directory cannot be written;
/// invalid: one of `names` is none
Result<Pki> load_or_create_pki(const std::filesystem::path& directory, std::vector<std::string> names, Timestamp now);

}  // namespace berth::kube::http
