// Kubernetes quantities: "1Gi", "100m", "50M". The written form is kept for round trips.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace berth {

struct Quantity {
    std::string written;  ///< "" = not set

    bool operator==(const Quantity&) const = default;  ///< compares the written form; use same_amount for the value
    [[nodiscard]] bool empty() const { return written.empty(); }
};

/// The amount in thousandths, rounded up; a number too large for 64 bits is clamped.
/// Errors  invalid: not a quantity
Result<std::int64_t> milli_value(std::string_view written);

/// The amount in whole units (bytes), rounded up. Errors invalid.
Result<Bytes> to_bytes(const Quantity& quantity);
Result<MilliCpu> to_milli_cpu(const Quantity& quantity);

/// Zero when unset or not a quantity; for views of objects that admission has validated.
Bytes bytes_or_zero(const Quantity& quantity);
MilliCpu milli_cpu_or_zero(const Quantity& quantity);

/// Canonical text: the largest binary suffix that divides the number evenly ("1Gi", "1138166334").
Quantity quantity_of(Bytes bytes);
Quantity quantity_of(MilliCpu cpu);

bool same_amount(const Quantity& a, const Quantity& b);

}  // namespace berth
