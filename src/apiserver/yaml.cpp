// YAML in and out. yaml-cpp is seen in this file only.
#include <charconv>
#include <cmath>

#include <yaml-cpp/yaml.h>

#include "apiserver/body.hpp"

namespace berth::apiserver {
namespace {

constexpr int kDepthMax = 512;
constexpr std::size_t kNodesMax = 1'000'000;  // aliases of aliases make few lines very many values

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

// Plain scalars get the type that Kubernetes' YAML reader gives them: no yes/no booleans, no octal.
json::Value scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return json::Value(text);
    if (text == "true" || text == "True" || text == "TRUE") return json::Value(true);
    if (text == "false" || text == "False" || text == "FALSE") return json::Value(false);
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
    const std::string_view digits = text.front() == '+' ? std::string_view(text).substr(1) : std::string_view(text);
    if (const auto whole = number<std::int64_t>(digits)) return json::Value(*whole);
    const bool may_be_real = digits.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
    if (const auto real = may_be_real ? number<double>(digits) : std::nullopt; real && std::isfinite(*real))
        return json::Value(*real);
    return json::Value(text);
}

Result<json::Value> convert(const YAML::Node& node, int depth, std::size_t& nodes) {
    if (++nodes > kNodesMax) return fail(ErrorKind::invalid, "yaml: more than a million values");
    if (depth > kDepthMax) return fail(ErrorKind::invalid, "yaml: nested too deeply");
    switch (node.Type()) {
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: return json::Value();
        case YAML::NodeType::Scalar: return scalar(node);
        case YAML::NodeType::Sequence: {
            json::Array out;
            for (const auto& element : node) {
                TRY(json::Value value, convert(element, depth + 1, nodes));
                out.push_back(std::move(value));
            }
            return json::Value(std::move(out));
        }
        case YAML::NodeType::Map: {
            json::Object out;
            for (const auto& pair : node) {
                TRY(json::Value value, convert(pair.second, depth + 1, nodes));
                out[pair.first.Scalar()] = std::move(value);
            }
            return json::Value(std::move(out));
        }
    }
    return json::Value();
}

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
        // Quoted when plain text would be read back as another type.
        const YAML::Node plain(text);
        if (!scalar(plain).is_string()) out << YAML::DoubleQuoted;
        out << text;
    } else if (value.is_null()) {
        out << YAML::Null;
    } else {
        out << json::print(value);
    }
}

}  // namespace

Result<json::Value> parse_yaml(const std::string& text) {
    try {
        std::size_t nodes = 0;
        return convert(YAML::Load(text), 0, nodes);
    } catch (const YAML::Exception& error) {
        return fail(ErrorKind::invalid, std::string("yaml: ") + error.what());
    }
}

std::string print_yaml(const json::Value& value) {
    YAML::Emitter out;
    emit(out, value);
    return std::string(out.c_str()) + "\n";
}

}  // namespace berth::apiserver
