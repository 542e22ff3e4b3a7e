#include "cli/output.hpp"

#include "apiserver/body.hpp"

namespace berth::cli {

std::string format(const json::Value& document, const std::string& format) {
    std::string text = format == "yaml" ? apiserver::print_yaml(document) : json::print_pretty(document);
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

}  // namespace berth::cli
