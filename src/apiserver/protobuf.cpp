#include "apiserver/protobuf.hpp"

#include <bit>
#include <cstring>

#include "apiserver/type_check.hpp"
#include "base/time.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 128;

std::unexpected<Error> broken(std::string why) { return fail(ErrorKind::invalid, "protobuf body: " + std::move(why)); }

// One field as it stands on the wire.
struct Wire {
    std::uint64_t number = 0;
    unsigned type = 0;       // 0 varint, 1 fixed64, 2 bytes, 5 fixed32
    std::uint64_t bits = 0;  // of the numeric types
    std::string_view bytes;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    [[nodiscard]] bool is_over() const { return rest_.empty(); }

    Result<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) return broken("cut off");
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        return broken("a number is longer than 64 bits");
    }

    Result<Wire> next() {
        TRY(const std::uint64_t tag, varint());
        Wire wire{.number = tag >> 3, .type = static_cast<unsigned>(tag & 7)};
        if (wire.number == 0) return broken("field number 0");
        if (wire.type == 0) {
            TRY(wire.bits, varint());
        } else if (wire.type == 1 || wire.type == 5) {
            const std::size_t size = wire.type == 1 ? 8 : 4;
            if (rest_.size() < size) return broken("cut off");
            for (std::size_t i = 0; i < size; ++i) {
                wire.bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
            }
            rest_.remove_prefix(size);
        } else if (wire.type == 2) {
            TRY(const std::uint64_t size, varint());
            if (size > rest_.size()) return broken("cut off");
            wire.bytes = rest_.substr(0, size);
            rest_.remove_prefix(size);
        } else {
            return broken("wire type " + std::to_string(wire.type));
        }
        return wire;
    }

private:
    std::string_view rest_;
};

bool is_utf8(std::string_view text) {
    std::size_t i = 0;
    const auto at = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
    while (i < text.size()) {
        const unsigned c = at(i);
        const std::size_t tail = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 9;
        if (tail == 9) return false;
        for (std::size_t k = 1; k <= tail; ++k) {
            if ((at(i + k) & 0xc0) != 0x80) return false;
        }
        const unsigned second = at(i + 1);
        const bool is_overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
        const bool is_outside = (c == 0xed && second > 0x9f) || (c == 0xf4 && second > 0x8f);
        if (is_overlong || is_outside) return false;
        i += tail + 1;
    }
    return true;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
        }
    }
    return out;
}

// "1h2m3.5s", as Go prints a time.Duration.
std::string go_duration(std::int64_t nanos) {
    if (nanos == 0) return "0s";
    std::string out = nanos < 0 ? "-" : "";
    std::uint64_t rest = nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
    const auto with_fraction = [](std::uint64_t value, std::uint64_t unit) {
        std::string text = std::to_string(value / unit);
        std::string fraction = std::to_string(unit + value % unit).substr(1);
        while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
        return fraction.empty() ? text : text + "." + fraction;
    };
    if (rest < 1'000) return out + std::to_string(rest) + "ns";
    if (rest < 1'000'000) return out + with_fraction(rest, 1'000) + "µs";
    if (rest < 1'000'000'000) return out + with_fraction(rest, 1'000'000) + "ms";
    const std::uint64_t minutes = rest / 60'000'000'000;
    rest %= 60'000'000'000;
    if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
    if (minutes > 0) out += std::to_string(minutes % 60) + "m";
    return out + with_fraction(rest, 1'000'000'000) + "s";
}

std::int64_t as_int(std::uint64_t bits) { return std::bit_cast<std::int64_t>(bits); }

struct Decoder {
    int depth = 0;

    // Goes one level down for as long as it lives.
    struct Level {
        int& depth;
        explicit Level(int& d) : depth(d) { ++depth; }
        ~Level() { --depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
    };

    static Result<Value> text(const Wire& wire) {
        if (!is_utf8(wire.bytes)) return broken("text that is not UTF-8");
        return Value(wire.bytes);
    }

    // Calls `use` with each field of a message.
    template <class Use>
    static Result<void> each(std::string_view message, Use use) {
        Reader reader(message);
        while (!reader.is_over()) {
            TRY(const Wire wire, reader.next());
            TRY_DO(use(wire));
        }
        return {};
    }

    // The first two numbers and the text of a small message: times, quantities, int-or-string.
    struct Small {
        std::int64_t first = 0;
        std::int64_t second = 0;
        std::string_view text;
        std::string_view third;
    };
    static Result<Small> small(std::string_view message) {
        Small out;
        TRY_DO(each(message, [&](const Wire& wire) -> Result<void> {
            if (wire.number == 1) out.first = as_int(wire.bits);
            if (wire.number == 1) out.text = wire.bytes;
            if (wire.number == 2) out.second = as_int(wire.bits);
            if (wire.number == 3) out.third = wire.bytes;
            return {};
        }));
        return out;
    }

    static Result<Value> time(const Wire& wire, Form form) {
        if (wire.bytes.empty()) return Value();  // the zero time
        TRY(const Small small_time, small(wire.bytes));
        constexpr std::int64_t kYear10000 = 253'402'300'800;
        if (small_time.first < -62'135'596'800 || small_time.first >= kYear10000)
            return broken("a time outside of years 1 to 9999");
        const Timestamp seconds{std::chrono::seconds{small_time.first}};
        if (form == Form::time) return Value(to_rfc3339(seconds));
        return Value(to_rfc3339_micro(seconds + std::chrono::microseconds{small_time.second / 1000}));
    }

    Result<Value> any(const Wire& wire) {
        TRY(const Small raw, small(wire.bytes));
        if (is_protobuf(raw.text)) return envelope(raw.text);
        if (raw.text.empty()) return Value();
        return json::parse(raw.text);
    }

    Result<Value> schema_or(const Wire& wire, const Shape& shape) {
        Value schema;
        Value allows(false);
        Array list;
        TRY_DO(each(wire.bytes, [&](const Wire& part) -> Result<void> {
            if (shape.form == Form::schema_or_bool && part.number == 1) {
                allows = part.bits != 0;
            } else if (part.number == (shape.form == Form::schema_or_bool ? 2U : 1U)) {
                TRY(schema, object(part.bytes, *shape.object));
            } else if (shape.form == Form::schema_or_list) {
                TRY(Value element, object(part.bytes, *shape.object));
                list.push_back(std::move(element));
            } else if (shape.form == Form::schema_or_texts) {
                TRY(Value element, text(part));
                list.push_back(std::move(element));
            }
            return {};
        }));
        if (!schema.is_null()) return schema;
        if (shape.form == Form::schema_or_bool) return allows;
        return Value(std::move(list));
    }

    Result<Value> scalar(const Wire& wire, Form form) {
        switch (form) {
            case Form::text: return text(wire);
            case Form::boolean: return Value(wire.bits != 0);
            case Form::int32: return Value(std::int64_t{static_cast<std::int32_t>(wire.bits)});
            case Form::int64: return Value(as_int(wire.bits));
            case Form::number: return Value(std::bit_cast<double>(wire.bits));
            case Form::bytes: return Value(base64(wire.bytes));
            case Form::time:
            case Form::micro_time: return time(wire, form);
            default: break;
        }
        TRY(const Small parts, small(wire.bytes));
        if (form == Form::duration) return Value(go_duration(parts.first));
        if (form == Form::quantity) return parts.text.empty() ? Value() : Value(parts.text);
        if (parts.first == 1) return Value(parts.third);
        return Value(std::int64_t{static_cast<std::int32_t>(parts.second)});
    }

    Result<Value> value(const Wire& wire, const Shape& shape) {
        switch (shape.form) {
            case Form::any: return any(wire);
            case Form::object: return object(wire.bytes, *shape.object);
            case Form::schema_or_bool:
            case Form::schema_or_list:
            case Form::schema_or_texts: return schema_or(wire, shape);
            case Form::list: {  // wrapped: a message {1: repeated}
                Array list;
                TRY_DO(each(wire.bytes, [&](const Wire& part) -> Result<void> {
                    TRY(Value element, value(part, *shape.element));
                    list.push_back(std::move(element));
                    return {};
                }));
                return Value(std::move(list));
            }
            case Form::map: break;  // only as a field
            default: return scalar(wire, shape.form);
        }
        return broken("a map inside a map");
    }

    Result<void> map_entry(const Wire& wire, const Shape& shape, Object& out) {
        std::string key;
        const bool is_text = shape.element->form == Form::text;
        Value inner = is_text ? Value("") : Value();
        TRY_DO(each(wire.bytes, [&](const Wire& part) -> Result<void> {
            if (part.number == 1) {
                if (!is_utf8(part.bytes)) return broken("text that is not UTF-8");
                key = part.bytes;
            } else if (part.number == 2) {
                TRY(inner, value(part, *shape.element));
            }
            return {};
        }));
        out[key] = std::move(inner);
        return {};
    }

    Result<void> list_element(const Wire& wire, const Shape& element, Array& out) {
        const bool is_varint =
            element.form == Form::int32 || element.form == Form::int64 || element.form == Form::boolean;
        if (wire.type == 2 && is_varint) {  // packed
            Reader reader(wire.bytes);
            while (!reader.is_over()) {
                TRY(const std::uint64_t bits, reader.varint());
                TRY(Value one, scalar({.bits = bits}, element.form));
                out.push_back(std::move(one));
            }
            return {};
        }
        TRY(Value one, value(wire, element));
        out.push_back(std::move(one));
        return {};
    }

    Result<void> fill(std::string_view message, const Type& type, Object& out) {
        const Level level(depth);
        if (depth > kMaxDepth) return broken("nested deeper than 128");
        return each(message, [&](const Wire& wire) -> Result<void> {
            const auto field = std::ranges::find_if(type.fields, [&](const Field& f) {
                return f.number != 0 && static_cast<std::uint64_t>(f.number) == wire.number;
            });
            if (field == type.fields.end()) return {};
            if (field->is_inlined) return fill(wire.bytes, *field->shape->object, out);
            const Shape& shape = *field->shape;
            if (shape.form == Form::map) {
                Value& map = out[field->name];
                if (!map.is_object()) map = Object();
                return map_entry(wire, shape, map.get_object());
            }
            if (shape.form == Form::list && !shape.is_wrapped) {
                Value& list = out[field->name];
                if (!list.is_array()) list = Array();
                return list_element(wire, *shape.element, list.get_array());
            }
            TRY(out[field->name], value(wire, shape));
            return {};
        });
    }

    Result<Value> object(std::string_view message, const Type& type) {
        Object out;
        TRY_DO(fill(message, type, out));
        return Value(std::move(out));
    }

    Result<Value> envelope(std::string_view body) {
        const Level level(depth);
        if (depth > kMaxDepth) return broken("nested deeper than 128");
        std::string_view api_version;
        std::string_view kind;
        std::string_view raw;
        TRY_DO(each(body.substr(kMagic.size()), [&](const Wire& wire) -> Result<void> {
            if (wire.number == 2) raw = wire.bytes;
            if (wire.number != 1) return {};
            return each(wire.bytes, [&](const Wire& part) -> Result<void> {
                if (part.number == 1) api_version = part.bytes;
                if (part.number == 2) kind = part.bytes;
                return {};
            });
        }));
        if (!is_utf8(api_version) || !is_utf8(kind)) return broken("text that is not UTF-8");
        const Type* type = find_type(api_version, kind);
        if (type == nullptr) {
            return fail(
                ErrorKind::not_found,
                "no kind \"" + std::string(kind) + "\" is registered for version \"" + std::string(api_version) +
                    "\"; send it as JSON"
            );
        }
        TRY(Value document, object(raw, *type));
        document.get_object()["apiVersion"] = api_version;
        document.get_object()["kind"] = kind;
        return conformed(document, *type);
    }
};

}  // namespace

bool is_protobuf(std::string_view body) { return body.starts_with(kMagic); }

Result<json::Value> decode_protobuf(std::string_view body) {
    if (!is_protobuf(body)) return broken("it does not start with \"k8s\\0\"");
    return Decoder{}.envelope(body);
}

}  // namespace berth::apiserver
