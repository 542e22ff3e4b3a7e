// Selectors as they stand in URLs: never a crash, and matching never depends on the order of the terms.
#include <algorithm>
#include <cstdlib>

#include "json/selector.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    static const auto document =
        berth::json::parse(R"({"metadata":{"name":"a","labels":{"x":"a","y":"7"}},"spec":{"nodeName":"n1"}})");
    if (auto labels = berth::json::parse_label_selector(text)) {
        if (labels->requirements.size() > berth::json::kMaxRequirements) std::abort();
        const bool first = matches_labels_of(*labels, *document);
        std::ranges::reverse(labels->requirements);
        if (matches_labels_of(*labels, *document) != first) std::abort();
    }
    if (auto fields = berth::json::parse_field_selector(text)) {
        const bool first = matches(*fields, *document);
        std::ranges::reverse(fields->terms);
        if (matches(*fields, *document) != first) std::abort();
    }
    return 0;
}
