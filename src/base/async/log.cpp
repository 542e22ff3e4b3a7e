#include "base/async/log.hpp"

namespace berth {
namespace {

void append_value(std::string& line, std::string_view value) {
    const bool plain = !value.empty() && value.find_first_of(" \"=\n\t\\") == std::string_view::npos;
    if (plain) {
        line += value;
        return;
    }
    line += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') line += '\\';
        if (c == '\n') {
            line += "\\n";
        } else {
            line += c;
        }
    }
    line += '"';
}

std::string_view name_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return "?";
}

}  // namespace

std::string logfmt(
    LogLevel level, std::string_view role, std::string_view message, std::initializer_list<Log::Field> fields
) {
    std::string line = "level=" + std::string(name_of(level)) + " role=" + std::string(role) + " msg=";
    append_value(line, message);
    for (const auto& [key, value] : fields) {
        line += ' ';
        line += key;
        line += '=';
        append_value(line, value);
    }
    return line;
}

}  // namespace berth
