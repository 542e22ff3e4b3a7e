// Port: calls that block (SQLite, libvirt, mount). Production has a pool of threads; the simulation runs them inline.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "base/async/task.hpp"

namespace berth {

class Blocking {
public:
    virtual ~Blocking() = default;
    /// Runs `work` off the event loop and returns when it is done. Not cancellable: work that has begun ends.
    /// `work` must not throw.
    virtual Task<void> run(std::function<void()> work) = 0;
};

/// The value of `work`, computed off the event loop. `work` is a named function object at the call (see Task rules).
template <class F>
Task<std::invoke_result_t<F>> blocking(Blocking& pool, F work) {
    using T = std::invoke_result_t<F>;
    std::optional<T> out;
    std::function<void()> call = [&out, &work] { out.emplace(work()); };
    co_await pool.run(std::move(call));
    co_return std::move(*out);
}

}  // namespace berth
