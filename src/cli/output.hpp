// -o json|yaml.
#pragma once

#include <string>

#include "json/value.hpp"

namespace berth::cli {

/// The document as text that ends with a line feed. `format` is "json" or "yaml".
std::string format(const json::Value& document, const std::string& format);

}  // namespace berth::cli
