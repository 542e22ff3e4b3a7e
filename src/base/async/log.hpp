// Port: log lines. A fixed message and fields, so that lines can be counted.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

enum class LogLevel { debug, info, warn, error };

class Log {
public:
    using Field = std::pair<std::string_view, std::string>;

    virtual ~Log() = default;
    virtual void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) = 0;

    void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
        write(LogLevel::debug, message, fields);
    }
    void info(std::string_view message, std::initializer_list<Field> fields = {}) {
        write(LogLevel::info, message, fields);
    }
    void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
        write(LogLevel::warn, message, fields);
    }
    void error(std::string_view message, std::initializer_list<Field> fields = {}) {
        write(LogLevel::error, message, fields);
    }
};

/// "ts=… level=info role=controller msg=planned object=vmi/default/web": one logfmt line without its end.
std::string logfmt(
    LogLevel level, std::string_view role, std::string_view message, std::initializer_list<Log::Field> fields
);

}  // namespace berth
