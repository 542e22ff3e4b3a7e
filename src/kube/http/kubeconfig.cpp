#include "kube/http/kubeconfig.hpp"

#include <cstdlib>

#include <yaml-cpp/yaml.h>

#include "kube/http/base64.hpp"
#include "kube/http/files.hpp"

namespace berth::kube::http {
namespace {

namespace fs = std::filesystem;

// A node with the directory that its relative paths start from.
struct Entry {
    YAML::Node node;
    fs::path directory;

    [[nodiscard]] std::string text(const char* key) const {
        const YAML::Node value = node[key];
        return value && value.IsScalar() ? value.Scalar() : std::string();
    }
    [[nodiscard]] bool has(const char* key) const { return node[key].IsDefined() && !node[key].IsNull(); }
};

// All files, merged: the first that defines a name wins.
struct Merged {
    std::vector<Entry> files;

    [[nodiscard]] std::string current_context() const {
        for (const Entry& file : files) {
            if (std::string name = file.text("current-context"); !name.empty()) return name;
        }
        return "";
    }
    /// list "users", key "user": the entry of that name.
    [[nodiscard]] Result<Entry> find(const char* list, const char* key, const std::string& name) const {
        for (const Entry& file : files) {
            for (const YAML::Node& item : file.node[list]) {
                if (item["name"] && item["name"].Scalar() == name && item[key].IsMap())
                    return Entry{item[key], file.directory};
            }
        }
        return fail(
            ErrorKind::invalid, "the kubeconfig has no " + std::string(key) + " \"" + name + "\": check its " + list
        );
    }
};

Result<Entry> load(const fs::path& path) {
    TRY(const std::string text, read_file(path));
    try {
        Entry entry{YAML::Load(text), fs::absolute(path).parent_path()};
        if (entry.node.IsMap()) return entry;
    } catch (const YAML::Exception& broken) {
        return fail(
            ErrorKind::invalid, "read \"" + path.string() + "\": " + broken.what() + ": it must be a kubeconfig"
        );
    }
    return fail(ErrorKind::invalid, "read \"" + path.string() + "\": it is not a kubeconfig");
}

// "certificate-authority-data" wins over the file that "certificate-authority" names.
Result<std::string> data_or_file(const Entry& entry, const std::string& key) {
    if (const std::string data = entry.text((key + "-data").c_str()); !data.empty()) {
        if (auto decoded = decode_base64(data)) return *std::move(decoded);
        return fail(ErrorKind::invalid, key + "-data is not base64: write the kubeconfig again");
    }
    const std::string file = entry.text(key.c_str());
    if (file.empty()) return std::string();
    auto content = read_file(entry.directory / file);
    if (!content) return within(key, std::move(content).error());
    return content;
}

Result<void> read_cluster(const Entry& cluster, ClientConfig& config) {
    config.server = cluster.text("server");
    if (config.server.empty())
        return fail(ErrorKind::invalid, "the kubeconfig's cluster has no server: add its address");
    TRY(config.ca_pem, data_or_file(cluster, "certificate-authority"));
    config.verifies_server = cluster.text("insecure-skip-tls-verify") != "true";
    config.tls_server_name = cluster.text("tls-server-name");
    if (cluster.has("proxy-url"))
        return fail(ErrorKind::invalid, "proxy-url is not supported: reach the server directly");
    return {};
}

Result<void> read_user(const Entry& user, const std::string& name, ClientConfig& config) {
    for (const char* unsupported : {"exec", "auth-provider", "username", "as"}) {
        if (!user.has(unsupported)) continue;
        return fail(
            ErrorKind::invalid,
            "user \"" + name + "\" proves who it is with \"" + unsupported +
                "\", which is not supported: use a client certificate, a token or a tokenFile"
        );
    }
    TRY(config.certificate_pem, data_or_file(user, "client-certificate"));
    TRY(config.key_pem, data_or_file(user, "client-key"));
    config.token = user.text("token");
    if (const std::string file = user.text("tokenFile"); !file.empty()) config.token_file = user.directory / file;
    return {};
}

Result<ClientConfig> read_config(const std::vector<fs::path>& paths, const std::string& wanted_context) {
    Merged merged;
    for (const fs::path& path : paths) {
        auto file = load(path);
        if (!file && file.error().kind == ErrorKind::not_found && paths.size() > 1)
            continue;  // of a list, what is there
        if (!file) return std::unexpected(std::move(file).error());
        merged.files.push_back(*std::move(file));
    }
    const std::string name = wanted_context.empty() ? merged.current_context() : wanted_context;
    if (name.empty())
        return fail(ErrorKind::invalid, "the kubeconfig has no current-context: set it or choose one with --context");
    ClientConfig config;
    TRY(const Entry context, merged.find("contexts", "context", name));
    TRY(const Entry cluster, merged.find("clusters", "cluster", context.text("cluster")));
    TRY_DO(read_cluster(cluster, config));
    if (const std::string user_name = context.text("user"); !user_name.empty()) {
        TRY(const Entry user, merged.find("users", "user", user_name));
        TRY_DO(read_user(user, user_name, config));
    }
    if (const std::string ns = context.text("namespace"); !ns.empty()) config.ns = ns;
    return config;
}

std::vector<fs::path> split_list(const std::string& list) {
    std::vector<fs::path> out;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(':', at), list.size());
        if (end > at) out.emplace_back(list.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::string print_kubeconfig(std::string_view name, const ClientConfig& config) {
    const std::string n(name);
    std::string cluster = "    server: " + config.server + "\n";
    if (!config.ca_pem.empty()) cluster += "    certificate-authority-data: " + encode_base64(config.ca_pem) + "\n";
    if (!config.verifies_server) cluster += "    insecure-skip-tls-verify: true\n";
    if (!config.tls_server_name.empty()) cluster += "    tls-server-name: " + config.tls_server_name + "\n";
    std::string user;
    if (!config.certificate_pem.empty()) {
        user += "    client-certificate-data: " + encode_base64(config.certificate_pem) + "\n";
        user += "    client-key-data: " + encode_base64(config.key_pem) + "\n";
    }
    if (!config.token.empty()) user += "    token: \"" + config.token + "\"\n";
    return "apiVersion: v1\nkind: Config\nclusters:\n- name: " + n + "\n  cluster:\n" + cluster +
           "users:\n- name: " + n + "-admin\n  user:" + (user.empty() ? " {}\n" : "\n" + user) +
           "contexts:\n- name: " + n + "\n  context:\n    cluster: " + n + "\n    user: " + n +
           "-admin\n    namespace: " + config.ns + "\ncurrent-context: " + n + "\n";
}

Result<void> write_kubeconfig(const fs::path& path, std::string_view name, const ClientConfig& config) {
    return write_file(path, print_kubeconfig(name, config));
}

ConfigSearch search_of_environment() {
    ConfigSearch search{.variable = variable("KUBECONFIG"), .fallbacks = {"/var/lib/berth/kubeconfig"}};
    if (const std::string home = variable("HOME"); !home.empty())
        search.fallbacks.push_back(fs::path(home) / ".kube/config");
    return search;
}

Result<ClientConfig> find_client_config(const ConfigSearch& search) {
    try {
        if (!search.path.empty()) return read_config({search.path}, search.context);
        if (!search.variable.empty()) return read_config(split_list(search.variable), search.context);
        for (const fs::path& path : search.fallbacks) {
            std::error_code ignored;
            if (fs::exists(path, ignored)) return read_config({path}, search.context);
        }
    } catch (const YAML::Exception& broken) {
        return fail(ErrorKind::invalid, std::string("read kubeconfig: ") + broken.what() + ": it must be a kubeconfig");
    }
    auto inside = service_account_config();
    if (inside || inside.error().kind != ErrorKind::not_found) return inside;
    return fail(ErrorKind::not_found, "no kubeconfig found: start `berth up`, set KUBECONFIG or give --kubeconfig");
}

Result<ClientConfig> service_account_config() {
    const fs::path directory = "/var/run/secrets/kubernetes.io/serviceaccount";
    std::string host = variable("KUBERNETES_SERVICE_HOST");
    const std::string port = variable("KUBERNETES_SERVICE_PORT");
    if (host.empty() || port.empty())
        return fail(ErrorKind::not_found, "not inside a pod: KUBERNETES_SERVICE_HOST is not set");
    if (host.contains(':')) host = "[" + host + "]";
    ClientConfig config{.server = "https://" + host + ":" + port, .token_file = directory / "token"};
    TRY(config.ca_pem, read_file(directory / "ca.crt"));
    config.ns = read_file(directory / "namespace").value_or("default");
    return config;
}

}  // namespace berth::kube::http
