// The one coroutine type. Rules for writing coroutines: docs of the project, section "Coroutines".
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace berth {

template <class T>
using Task = boost::asio::awaitable<T>;

/// Where coroutines run: an io_context in production, a seeded scheduler in simulation. One thread in both.
using Executor = boost::asio::any_io_executor;

}  // namespace berth
