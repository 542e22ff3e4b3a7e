#include "kube/transport.hpp"

#include <algorithm>

namespace berth::kube {

std::optional<std::string> Request::parameter(std::string_view name) const {
    const auto it = std::ranges::find(query, name, [](const auto& pair) { return std::string_view(pair.first); });
    if (it == query.end()) return std::nullopt;
    return it->second;
}

std::string Request::header(std::string_view name) const {
    const auto it = headers.find(std::string(name));
    return it == headers.end() ? std::string() : it->second;
}

}  // namespace berth::kube
