// Headers that nearly every file of a pure layer reads.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>
