// Continue tokens: where the next page starts, and at which revision (docs/spec/kube-api.md 2.16). Pure.
#pragma once

#include "apiserver/status.hpp"
#include "store/store.hpp"

namespace berth::apiserver {

struct Continuation {
    store::Revision at = 0;  ///< -1: at the newest
    std::string ns;
    std::string name;  ///< the last object of the page before
};

std::string print(const Continuation& continuation);
/// Errors  400: not one of ours
Outcome<Continuation> read_continuation(std::string_view token);

}  // namespace berth::apiserver
