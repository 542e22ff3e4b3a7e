#include "cli/client.hpp"

#include <cstdio>

#include <yaml-cpp/yaml.h>

#include "kube/http/kubeconfig.hpp"

namespace berth::cli {
namespace {

void emit(YAML::Emitter& out, const json::Value& value) {
    if (const json::Object* object = value.if_object()) {
        out << YAML::BeginMap;
        for (const auto& [key, inner] : *object) {
            out << YAML::Key << std::string(key) << YAML::Value;
            emit(out, inner);
        }
        out << YAML::EndMap;
    } else if (const json::Array* array = value.if_array()) {
        out << YAML::BeginSeq;
        for (const json::Value& inner : *array) emit(out, inner);
        out << YAML::EndSeq;
    } else if (value.is_string()) {
        const std::string text(value.get_string());
        if (text.find('\n') != std::string::npos) {
            out << YAML::Literal << text;
        } else {
            out << YAML::DoubleQuoted << text;
        }
    } else {
        out << json::print(value);
    }
}

}  // namespace

Result<std::unique_ptr<Client>> Client::open(const Target& target) {
    kube::http::ConfigSearch search = kube::http::search_of_environment();
    if (!target.kubeconfig.empty()) search.path = target.kubeconfig;
    TRY(kube::http::ClientConfig config, kube::http::find_client_config(search));
    std::unique_ptr<Client> client(new Client(target.ns.empty() ? config.ns : target.ns));
    config.user_agent = "berth";
    TRY(client->http_, kube::http::Client::make(client->loop_.get_executor(), client->clock_, std::move(config)));
    return client;
}

void print_document(const json::Value& document, const std::string& output) {
    if (output == "yaml") {
        YAML::Emitter out;
        emit(out, document);
        std::printf("%s\n", out.c_str());
    } else {
        std::printf("%s\n", json::print_pretty(document).c_str());
    }
}

}  // namespace berth::cli
