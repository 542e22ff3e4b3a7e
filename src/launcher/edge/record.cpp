// See record.hpp.
#include "launcher/edge/record.hpp"

#include <cstdio>
#include <fstream>

namespace berth::launcher {

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool write_text(const std::string& path, std::string_view text) {
    const std::string temporary = path + ".new";
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out << text;
        if (!out.flush()) return false;
    }
    return ::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace berth::launcher
