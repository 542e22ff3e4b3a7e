// See xml.hpp.
#include "launcher/plan/xml.hpp"

namespace berth::launcher {
namespace {

void append(std::string& out, const Element& element, std::size_t depth) {
    out.append(depth * 2, ' ');
    out += '<' + element.name;
    for (const auto& [name, value] : element.attributes) out += ' ' + name + "='" + xml_escape(value) + '\'';
    if (element.children.empty() && element.text.empty()) {
        out += "/>\n";
        return;
    }
    out += '>';
    out += xml_escape(element.text);
    if (!element.children.empty()) {
        out += '\n';
        for (const Element& child : element.children) append(out, child, depth + 1);
        out.append(depth * 2, ' ');
    }
    out += "</" + element.name + ">\n";
}

}  // namespace

std::string xml_escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '\'': out += "&apos;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? '?' : c;
        }
    }
    return out;
}

Element& Element::add(std::string child, Attributes with, std::string content) {
    children.push_back({.name = std::move(child), .attributes = std::move(with), .text = std::move(content)});
    return children.back();
}

Element& Element::set(std::string attribute, std::string value) {
    if (!value.empty()) attributes.emplace_back(std::move(attribute), std::move(value));
    return *this;
}

std::string print(const Element& root) {
    std::string out;
    append(out, root, 0);
    return out;
}

}  // namespace berth::launcher
