#include "base/result.hpp"

#include <string_view>

namespace berth {

std::string_view to_string(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::not_found: return "not found";
        case ErrorKind::already_exists: return "already exists";
        case ErrorKind::conflict: return "conflict";
        case ErrorKind::gone: return "gone";
        case ErrorKind::invalid: return "invalid";
        case ErrorKind::forbidden: return "forbidden";
        case ErrorKind::timeout: return "timeout";
        case ErrorKind::unavailable: return "unavailable";
        case ErrorKind::io: return "io";
    }
    return "?";
}

}  // namespace berth
