// CHECK guards what only a bug can break. It is on in every build.
#pragma once

#include <string_view>

namespace berth::base {
/// Prints where and what, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* what, std::string_view known = {});
}  // namespace berth::base

#define CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::berth::base::check_failed(__FILE__, __LINE__, #condition))
