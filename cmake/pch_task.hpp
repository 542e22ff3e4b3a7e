// The standard set, and the coroutine type.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "pch_std.hpp"
