#include "kube/api.hpp"

namespace berth::kube {

Error error_of(const Response&) { return {}; }

}  // namespace berth::kube
