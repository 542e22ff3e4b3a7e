// Failure is a value: Result<T> holds what was asked for, or an Error that says why not.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

/// What code may branch on. The engine's answer to each kind is in kube/engine.hpp.
enum class ErrorKind { not_found, already_exists, conflict, gone, invalid, forbidden, timeout, unavailable, io };

std::string_view to_string(ErrorKind kind);

struct Error {
    ErrorKind kind = ErrorKind::io;  ///< for code
    std::string message;             ///< for people: lower case, outermost context first, how to fix it last

    bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
    return std::unexpected(Error{kind, std::move(message)});
}

/// The same error with one more line of context in front.
inline std::unexpected<Error> within(std::string_view context, Error error) {
    error.message = std::string(context) + ": " + error.message;
    return std::unexpected(std::move(error));
}

}  // namespace berth

#define BERTH_CONCAT_(a, b) a##b
#define BERTH_CONCAT(a, b) BERTH_CONCAT_(a, b)

// TRY(auto x, f()): leaves the function with the error of f(), or names its value. TRY_DO is for Result<void>.
#define BERTH_TRY_(leave, name, target, ...)                   \
    auto name = (__VA_ARGS__);                                 \
    if (!name) leave std::unexpected(std::move(name).error()); \
    target = *std::move(name)
#define TRY(target, ...) BERTH_TRY_(return, BERTH_CONCAT(try_, __LINE__), target, __VA_ARGS__)
#define CO_TRY(target, ...) BERTH_TRY_(co_return, BERTH_CONCAT(try_, __LINE__), target, __VA_ARGS__)
#define TRY_DO(...) \
    if (auto tried = (__VA_ARGS__); !tried) return std::unexpected(std::move(tried).error())
#define CO_TRY_DO(...)                                                   \
    do {                                                                 \
        auto tried = (__VA_ARGS__);                                      \
        if (!tried) co_return std::unexpected(std::move(tried).error()); \
    } while (false)
