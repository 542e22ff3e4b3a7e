// What a pod is doing, in the words of `kubectl get pods` (docs/spec/kube-api.md 2.19). Pure.
#pragma once

#include <string>

#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::apiserver {

struct PodText {
    std::string ready;     ///< "1/2"
    std::string status;    ///< "Running", "Init:0/1", "CrashLoopBackOff", "Terminating"
    std::string restarts;  ///< "0", "3 (5m ago)"
};

PodText pod_text(const json::Value& pod, Timestamp now);

}  // namespace berth::apiserver
