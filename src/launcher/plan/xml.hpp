// A small XML writer: elements, attributes, text, all escaped. It writes what libvirt reads; it does not read XML.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::launcher {

/// Text for an attribute in single quotes or between tags. Control characters, which XML 1.0 cannot hold, become "?".
std::string xml_escape(std::string_view text);

struct Element {
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    std::string name;
    Attributes attributes = {};
    std::string text = {};
    std::list<Element> children = {};

    /// Appends a child and returns it; the reference stays good.
    Element& add(std::string child, Attributes with = {}, std::string content = {});
    void add(Element child) { children.push_back(std::move(child)); }
    /// Adds an attribute unless the value is empty.
    Element& set(std::string attribute, std::string value);
};

/// Two spaces a level, one element a line.
std::string print(const Element& root);

}  // namespace berth::launcher
