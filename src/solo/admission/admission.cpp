#include "solo/admission/admission.hpp"

namespace berth::solo {

apiserver::Options server_options() { return {}; }

}  // namespace berth::solo
