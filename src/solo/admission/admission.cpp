#include "solo/admission/admission.hpp"

#include "solo/admission/machines.hpp"

namespace berth::solo {

apiserver::Options server_options() {
    apiserver::Options options;
    add_machines(options, placement::solo_config());
    return options;
}

}  // namespace berth::solo
