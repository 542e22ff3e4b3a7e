// Strings and numbers that cannot be handed over as another kind of string or number.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace berth {

template <class Tag>
struct Text {
    std::string value;

    auto operator<=>(const Text&) const = default;
    [[nodiscard]] bool empty() const { return value.empty(); }
};

using Uid = Text<struct UidTag>;
using NodeName = Text<struct NodeNameTag>;
/// Opaque except for equality and for the read-your-writes barrier of kube/engine (kube-api.md 4.3).
using ResourceVersion = Text<struct ResourceVersionTag>;

struct Bytes {
    std::int64_t value = 0;
    auto operator<=>(const Bytes&) const = default;
    friend Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    friend Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
};

constexpr Bytes operator""_KiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 30}; }

/// Thousandths of a CPU.
struct MilliCpu {
    std::int64_t value = 0;
    auto operator<=>(const MilliCpu&) const = default;
    friend MilliCpu operator+(MilliCpu a, MilliCpu b) { return {a.value + b.value}; }
    friend MilliCpu operator-(MilliCpu a, MilliCpu b) { return {a.value - b.value}; }
};

}  // namespace berth
