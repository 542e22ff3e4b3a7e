# Writes a .cpp file that holds the bytes of a file, so that the program needs no data files beside it.
# usage: cmake -DIN=FILE -DOUT=FILE.cpp -DNAMESPACE=a::b -DNAME=kName -P embed.cmake
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUT} "#include <string_view>

namespace ${NAMESPACE} {
namespace {
const char bytes[] = {${bytes}};
}
extern const std::string_view ${NAME};
const std::string_view ${NAME}(bytes, sizeof bytes);
}  // namespace ${NAMESPACE}
")
