// Keys that stand twice in a JSON text: a parsed document no longer shows them, so the text is scanned.
#include <algorithm>
#include <set>

#include "apiserver/type_check.hpp"

namespace berth::apiserver {
namespace {

// The text has been parsed before: the scan trusts its grammar and its depth, and stops at the end in any case.
class Scan {
public:
    explicit Scan(std::string_view text) : rest_(text) {}

    std::vector<std::string> run() {
        value("");
        return std::move(found_);
    }

private:
    void skip_space() {
        while (!rest_.empty() &&
               (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\n' || rest_.front() == '\r')) {
            rest_.remove_prefix(1);
        }
    }
    bool take(char c) {
        skip_space();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    std::string string() {
        skip_space();
        std::size_t end = 1;
        bool is_escaped = false;
        while (end < rest_.size() && rest_[end] != '"') {
            is_escaped |= rest_[end] == '\\';
            end += rest_[end] == '\\' ? 2 : 1;
        }
        end = std::min(end + 1, rest_.size());
        const std::string_view literal = rest_.substr(0, end);
        rest_.remove_prefix(end);
        if (!is_escaped)
            return std::string(literal.substr(
                std::min<std::size_t>(1, literal.size()), literal.size() - std::min<std::size_t>(2, literal.size())
            ));
        const auto parsed = json::parse(literal);
        return parsed && parsed->is_string() ? std::string(parsed->get_string()) : std::string(literal);
    }

    void value(const std::string& path) {
        skip_space();
        if (rest_.empty()) return;
        if (take('{')) return object(path);
        if (take('[')) return array(path);
        if (rest_.front() == '"') {
            string();
            return;
        }
        const std::size_t end = std::min(rest_.find_first_of(",]} \t\r\n"), rest_.size());
        rest_.remove_prefix(end);
    }

    void object(const std::string& path) {
        std::set<std::string> keys;
        if (take('}')) return;
        do {
            std::string key = string();
            const std::string inner = path.empty() ? key : path + "." + key;
            if (!keys.insert(std::move(key)).second && reported_.insert(inner).second) found_.push_back(inner);
            take(':');
            value(inner);
        } while (take(','));
        take('}');
    }

    void array(const std::string& path) {
        std::size_t index = 0;
        if (take(']')) return;
        do {
            value(path + "[" + std::to_string(index++) + "]");
        } while (take(','));
        take(']');
    }

    std::string_view rest_;
    std::vector<std::string> found_;
    std::set<std::string> reported_;
};

}  // namespace

std::vector<std::string> duplicate_fields(std::string_view json_text) { return Scan(json_text).run(); }

}  // namespace berth::apiserver
