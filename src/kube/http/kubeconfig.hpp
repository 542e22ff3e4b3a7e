// kubeconfig files: written for people and their tools, read for our own client (docs/spec/kube-api.md 4.1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "kube/http/client_config.hpp"

namespace berth::kube::http {

/// A kubeconfig with one cluster, user and context, everything in it: it can be copied to another machine.
std::string print_kubeconfig(std::string_view name, const ClientConfig& config);
/// Errors  io
Result<void> write_kubeconfig(const std::filesystem::path& path, std::string_view name, const ClientConfig& config);

struct ConfigSearch {
    std::filesystem::path path;  ///< --kubeconfig; "" = not given
    std::string context;         ///< --context; "" = the current one
    std::string variable;        ///< $KUBECONFIG: a list separated by ':'
    /// Tried in order when neither is given; the first that exists counts.
    std::vector<std::filesystem::path> fallbacks;
};

/// $KUBECONFIG, then /var/lib/berth/kubeconfig, then ~/.kube/config.
ConfigSearch search_of_environment();

/// Finds and reads; files of a list are merged, the first definition of a name wins. Without any file: the service
/// account, inside a pod. Errors  not_found: no configuration anywhere; invalid: it names what is not there
Result<ClientConfig> find_client_config(const ConfigSearch& search);

/// Inside a pod: its service account. Errors  not_found: not in a pod
Result<ClientConfig> service_account_config();

}  // namespace berth::kube::http
