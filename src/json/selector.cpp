#include "json/selector.hpp"

#include <algorithm>
#include <charconv>

#include "base/names.hpp"

namespace berth::json {
namespace {

using Op = LabelRequirement::Op;

std::unexpected<Error> refuse(std::string message) { return fail(ErrorKind::invalid, std::move(message)); }

// The tokens of a label selector. "in" and "notin" are words; the parser knows where they are operators.
struct Token {
    enum class Kind { word, symbol, end, broken };
    Kind kind = Kind::end;
    std::string text;
    bool operator==(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::vector<Token> tokens_of(std::string_view text) {
    constexpr std::string_view kSymbols[] = {"==", "!=", "=", "!", "(", ")", ",", ">", "<"};  // longest first
    std::vector<Token> out;
    while (true) {
        while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        if (text.empty()) break;
        if (is_symbol(text.front())) {
            const auto it = std::ranges::find_if(kSymbols, [&](std::string_view s) { return text.starts_with(s); });
            out.push_back({Token::Kind::symbol, std::string(*it)});
            text.remove_prefix(it->size());
            continue;
        }
        const auto end = std::ranges::find_if(text, [](char c) { return is_symbol(c) || is_space(c); });
        const auto size = static_cast<std::size_t>(end - text.begin());
        out.push_back({Token::Kind::word, std::string(text.substr(0, size))});
        text.remove_prefix(size);
    }
    out.push_back({});
    return out;
}

Result<void> check_key(std::string_view key) {
    const std::size_t slash = key.find('/');
    const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
    const bool prefix_ok = slash == std::string_view::npos || is_dns_subdomain(key.substr(0, slash));
    if (prefix_ok && is_label_word(name)) return {};
    return refuse(
        "<nil>: Invalid value: " + quoted(key) +
        (prefix_ok
             ? ": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
               "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
               "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
             : ": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
               "or "
               "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
               "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
    );
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

Result<LabelRequirement> checked(LabelRequirement requirement) {
    auto& values = requirement.values;
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const bool is_set = requirement.op == Op::in || requirement.op == Op::not_in;
    if (is_set && values.empty()) {
        return refuse("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string place = "values[" + std::to_string(i) + "]";
        if (!is_set && !integer_of(values[i])) {
            return refuse(
                place + ": Invalid value: " + quoted(values[i]) +
                ": for 'Gt', 'Lt' operators, the value must be an integer"
            );
        }
        if (!values[i].empty() && !is_label_word(values[i])) {
            return refuse(
                place + "[" + requirement.key + "]: Invalid value: " + quoted(values[i]) +
                ": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
                "must "
                "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
                "for "
                "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            );
        }
    }
    return requirement;
}

struct LabelParser {
    std::vector<Token> tokens;
    std::size_t at = 0;

    const Token& look() const { return tokens[at]; }
    const Token& take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
    bool is_over() const { return look().kind == Token::Kind::end || look() == ","; }

    Result<std::vector<std::string>> value_list() {
        if (!(look() == "(")) return refuse("found '" + look().text + "' expected: '('");
        take();
        std::vector<std::string> out;
        bool after_comma = true;
        bool any = false;
        while (!(look() == ")")) {
            any = true;
            if (look() == ",") {
                if (after_comma) out.emplace_back();
                after_comma = true;
            } else if (look().kind == Token::Kind::word && after_comma) {
                out.push_back(look().text);
                after_comma = false;
            } else {
                return refuse(
                    "found '" + look().text + "', expected: " + (after_comma ? "',', or identifier" : "',' or ')'")
                );
            }
            take();
        }
        if (any && after_comma) out.emplace_back();
        take();
        return out;
    }

    Result<LabelRequirement> requirement() {
        LabelRequirement out;
        const bool negated = look() == "!";
        if (negated) take();
        if (look().kind != Token::Kind::word) return refuse("found '" + look().text + "', expected: identifier");
        out.key = take().text;
        TRY_DO(check_key(out.key));
        if (negated || is_over()) {
            out.op = negated ? Op::lacks : Op::exists;
            return out;
        }
        const Token op = take();
        const bool is_word = op.kind == Token::Kind::word;
        if (is_word && (op.text == "in" || op.text == "notin")) {
            out.op = op.text == "in" ? Op::in : Op::not_in;
            TRY(out.values, value_list());
            return checked(std::move(out));
        }
        if (op == "=" || op == "==") {
            out.op = Op::in;
        } else if (op == "!=") {
            out.op = Op::not_in;
        } else if (op == ">" || op == "<") {
            out.op = op == ">" ? Op::greater : Op::less;
        } else {
            return refuse("found '" + op.text + "', expected: in, notin, =, ==, !=, gt, lt");
        }
        if (is_over()) {
            out.values.emplace_back();
        } else if (look().kind == Token::Kind::word) {
            out.values.push_back(take().text);
        } else {
            return refuse("found '" + look().text + "', expected: identifier");
        }
        return checked(std::move(out));
    }
};

}  // namespace

Result<LabelSelector> parse_label_selector(std::string_view text) {
    LabelParser parser{tokens_of(text)};
    LabelSelector out;
    while (parser.look().kind != Token::Kind::end) {
        if (parser.look().kind != Token::Kind::word && !(parser.look() == "!")) {
            return refuse("found '" + parser.look().text + "', expected: !, identifier, or 'end of string'");
        }
        auto requirement = parser.requirement();
        if (!requirement) return within("unable to parse requirement", requirement.error());
        out.requirements.push_back(*std::move(requirement));
        if (out.requirements.size() > kMaxRequirements) {
            return refuse("unable to parse requirement: more than 100 requirements; ask for fewer");
        }
        const Token next = parser.take();
        if (next.kind == Token::Kind::end) break;
        if (!(next == ",")) return refuse("found '" + next.text + "', expected: ',' or 'end of string'");
        if (parser.look().kind != Token::Kind::word && !(parser.look() == "!")) {
            return refuse("found '" + parser.look().text + "', expected: identifier after ','");
        }
    }
    return out;
}

bool matches(const LabelSelector& selector, const Object* labels) {
    return std::ranges::all_of(selector.requirements, [&](const LabelRequirement& r) {
        const Value* value = labels == nullptr ? nullptr : labels->if_contains(r.key);
        const bool has = value != nullptr && value->is_string();
        const std::string_view text = has ? std::string_view(value->get_string()) : std::string_view();
        switch (r.op) {
            case Op::exists: return has;
            case Op::lacks: return !has;
            case Op::in: return has && std::ranges::find(r.values, text) != r.values.end();
            case Op::not_in: return !has || std::ranges::find(r.values, text) == r.values.end();
            case Op::greater:
            case Op::less: break;
        }
        const auto number = integer_of(text);
        const auto bound = r.values.empty() ? std::nullopt : integer_of(r.values.front());
        return has && number && bound && (r.op == Op::greater ? *number > *bound : *number < *bound);
    });
}

bool matches_labels_of(const LabelSelector& selector, const Value& document) {
    const Value* labels = find(document, "/metadata/labels");
    return matches(selector, labels == nullptr ? nullptr : labels->if_object());
}

const std::string* FieldSelector::required(std::string_view field) const {
    const auto it = std::ranges::find_if(terms, [&](const FieldTerm& t) { return !t.is_negated && t.field == field; });
    return it == terms.end() ? nullptr : &it->value;
}

namespace {

Result<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',' || text[i] == '=') {
            return refuse("invalid field selector: unescaped character in value: " + std::to_string(int{text[i]}));
        }
        if (text[i] == '\\') {
            const bool known = ++i < text.size() && (text[i] == '\\' || text[i] == ',' || text[i] == '=');
            if (!known)
                return refuse("invalid field selector: invalid escape sequence: \\" + std::string(text.substr(i, 1)));
        }
        out += text[i];
    }
    return out;
}

// Terms end at commas that no backslash stands before.
std::vector<std::string_view> terms_of(std::string_view text) {
    std::vector<std::string_view> out;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '\\') {
            ++i;
        } else if (i >= text.size() || text[i] == ',') {
            if (start < text.size()) out.push_back(text.substr(start, std::min(i, text.size()) - start));
            start = i + 1;
        }
    }
    if (start < text.size()) out.push_back(text.substr(start));  // it ends with a backslash
    std::erase(out, "");
    return out;
}

}  // namespace

Result<FieldSelector> parse_field_selector(std::string_view text) {
    FieldSelector out;
    for (const std::string_view term : terms_of(text)) {
        const std::size_t at = term.find('=');
        if (at == std::string_view::npos) {
            return refuse(
                "invalid selector: '" + std::string(text) + "'; can't understand '" + std::string(term) + "'"
            );
        }
        const bool is_negated = at > 0 && term[at - 1] == '!';
        std::string_view value = term.substr(at + 1);
        if (!is_negated && value.starts_with('=')) value.remove_prefix(1);
        FieldTerm& added = out.terms.emplace_back();
        added.field = term.substr(0, is_negated ? at - 1 : at);
        added.is_negated = is_negated;
        TRY(added.value, unescaped(value));
    }
    return out;
}

std::string field_text(const Value& document, std::string_view field) {
    const Value* at = &document;
    while (!field.empty()) {
        const std::size_t end = std::min(field.find('.'), field.size());
        const Object* object = at->if_object();
        at = object == nullptr ? nullptr : object->if_contains(field.substr(0, end));
        if (at == nullptr) return {};
        field.remove_prefix(std::min(end + 1, field.size()));
    }
    if (at->is_string()) return std::string(at->get_string());
    if (at->is_null() || at->is_object() || at->is_array()) return {};
    return print(*at);
}

bool matches(const FieldSelector& selector, const Value& document) {
    return std::ranges::all_of(selector.terms, [&](const FieldTerm& term) {
        std::string text = field_text(document, term.field);
        const bool is_flag = term.field == "spec.unschedulable" || term.field == "spec.hostNetwork";
        if (is_flag && text.empty()) text = "false";
        return (text == term.value) != term.is_negated;
    });
}

}  // namespace berth::json
