// A task whose value is put where several tasks can see it.
#pragma once

#include <optional>
#include <utility>

#include "base/async/task.hpp"

namespace berth::kube::http {

template <class T>
Task<void> keep(Task<T> task, std::optional<T>& out) {
    T value = co_await std::move(task);
    out.emplace(std::move(value));
}

}  // namespace berth::kube::http
