// Where an API server is and how to prove who we are.
#pragma once

#include <filesystem>
#include <string>

namespace berth::kube::http {

struct ClientConfig {
    std::string server;  ///< "https://host:6443", with a path prefix when the server is behind one
    std::string ca_pem;  ///< "" = the system's authorities
    std::string certificate_pem;
    std::string key_pem;
    std::string token;
    std::filesystem::path token_file;  ///< wins over `token`; read again as it is renewed
    std::string tls_server_name;       ///< the name the certificate must have; "" = the host of `server`
    bool impersonates = false;         ///< a request that has a user is made in its name: who we are must be allowed to
    bool verifies_server = true;       ///< false: insecure-skip-tls-verify
    std::string ns = "default";        ///< for people: where a command without a namespace acts
    std::string user_agent = "berth";  ///< its part before '/' becomes the field manager
};

}  // namespace berth::kube::http
