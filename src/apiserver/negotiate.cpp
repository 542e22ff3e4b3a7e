#include "apiserver/negotiate.hpp"

#include <charconv>
#include <cstdlib>

#include "base/ascii.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kBlanks = " \t";

struct MediaRange {
    std::string type;
    std::map<std::string, std::string> parameters;
    double quality = 1;
};

MediaRange read_range(std::string_view text) {
    MediaRange range;
    bool is_first = true;
    for (const auto part : std::views::split(text, ';')) {
        const std::string_view piece = trimmed(std::string_view(part), kBlanks);
        if (std::exchange(is_first, false)) {
            range.type = lower(piece);
            continue;
        }
        const std::size_t equal = piece.find('=');
        if (equal == std::string_view::npos) continue;
        range.parameters[lower(piece.substr(0, equal))] = std::string(piece.substr(equal + 1));
    }
    if (const auto q = range.parameters.find("q"); q != range.parameters.end())
        range.quality = std::strtod(q->second.c_str(), nullptr);
    return range;
}

std::vector<MediaRange> read_accept(std::string_view accept) {
    std::vector<MediaRange> out;
    for (const auto part : std::views::split(accept, ',')) {
        const std::string_view piece = trimmed(std::string_view(part), kBlanks);
        if (piece.empty()) continue;
        MediaRange range = read_range(piece);
        // Equal ones stay in the order they were written in.
        const auto behind = std::ranges::upper_bound(out, range.quality, std::greater<>(), &MediaRange::quality);
        out.insert(behind, std::move(range));
    }
    return out;
}

std::string parameter(const MediaRange& range, const std::string& name) {
    const auto it = range.parameters.find(name);
    return it == range.parameters.end() ? std::string() : it->second;
}

// None: this element cannot be served, the next one may.
std::optional<Presentation> serve(const MediaRange& range) {
    Presentation out;
    if (range.type == "application/yaml") {
        out.as_yaml = true;
    } else if (range.type != "application/json" && range.type != "application/*" && range.type != "*/*") {
        return {};
    }
    const std::string as = parameter(range, "as");
    if (as.empty()) return out;
    const std::string version = parameter(range, "v");
    if (parameter(range, "g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return {};
    if (as == "Table") {
        out.transform = Transform::table;
    } else if (as == "PartialObjectMetadata") {
        out.transform = Transform::partial;
    } else if (as == "PartialObjectMetadataList") {
        out.transform = Transform::partial_list;
    } else {
        return {};
    }
    return out;
}

kube::Response bad_option(const std::string& field, const std::string& value, const std::string& supported) {
    return invalid("CreateOptions.meta.k8s.io", "", {api::not_supported(field, quoted(value), supported)});
}

}  // namespace

Outcome<Presentation> negotiate(const kube::Request& request) {
    const std::string accept = request.header("accept");
    if (accept.empty()) return Presentation{};
    for (const MediaRange& range : read_accept(accept)) {
        auto served = serve(range);
        if (!served) continue;
        if (const auto include = request.parameter("includeObject"); include && !include->empty())
            served->include_object = *include;
        return *served;
    }
    return refuse(not_acceptable());
}

bool flag(const kube::Request& request, std::string_view name) {
    const auto value = request.parameter(name);
    return value && *value != "0" && lower(*value) != "false";
}

Outcome<std::optional<std::int64_t>> integer(const kube::Request& request, std::string_view name) {
    const auto text = request.parameter(name);
    if (!text || text->empty()) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) {
        return refuse(bad_request("strconv.ParseInt: parsing " + quoted(*text) + ": invalid syntax"));
    }
    return value;
}

Outcome<WriteOptions> write_options(const kube::Request& request) {
    WriteOptions out;
    for (const auto& [name, value] : request.query) {
        if (name == "dryRun" && !value.empty()) {
            if (value != "All") return refuse(bad_option("dryRun", value, "\"All\""));
            out.is_dry_run = true;
        } else if (name == "fieldValidation" && !value.empty()) {
            if (value == "Ignore") {
                out.validation = FieldValidation::ignore;
            } else if (value == "Strict") {
                out.validation = FieldValidation::strict;
            } else if (value != "Warn") {
                return refuse(bad_option("fieldValidation", value, "\"Ignore\", \"Strict\", \"Warn\""));
            }
        }
    }
    return out;
}

std::string media_type(const kube::Request& request) {
    const std::string full = request.header("content-type");
    return lower(trimmed(std::string_view(full).substr(0, full.find(';')), kBlanks));
}

}  // namespace berth::apiserver
