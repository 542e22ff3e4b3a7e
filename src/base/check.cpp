#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace berth::base {

void check_failed(const char* file, int line, const char* what, std::string_view known) {
    std::fprintf(
        stderr, "%s:%d: CHECK failed: %s %.*s\n", file, line, what, static_cast<int>(known.size()), known.data()
    );
    std::abort();
}

}  // namespace berth::base
