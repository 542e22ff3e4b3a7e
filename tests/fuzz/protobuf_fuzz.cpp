// Request bodies in Kubernetes' protobuf envelope: never a crash, and what is read is a document with its kind, which
// prints and parses to itself.
#include <cstdlib>

#include "apiserver/protobuf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string_view rest(reinterpret_cast<const char*>(bytes), size);
    // A third of the inputs begins behind the envelope's magic and kind: there are more ways to be wrong inside.
    std::string body(rest);
    if (size > 0 && bytes[0] % 3 == 0) {
        body = std::string("k8s\0\n\x09\n\x02v1\x12\x03Pod\x12", 16) + static_cast<char>(size & 0x7f) + body;
    }
    const auto document = berth::apiserver::decode_protobuf(body);
    if (!document) return 0;
    if (berth::json::text_at(*document, "/kind").empty()) std::abort();
    const auto again = berth::json::parse(berth::json::print(*document));
    if (!again || *again != *document) std::abort();
    return 0;
}
