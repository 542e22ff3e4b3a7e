// Small range questions that libstdc++ 12 does not have yet.
#pragma once

#include <algorithm>
#include <ranges>

namespace berth {

template <std::ranges::input_range R, class T>
bool contains(R&& range, const T& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace berth
