// Which objects and fields the flows of this folder write.
#pragma once

#include <string_view>

namespace berth::datavolume {

struct Owned {
    std::string_view kind;
    std::string_view fields;
};

constexpr Owned kOwns[] = {
    {"datavolume",            "status"                                                           },
    {"persistentvolumeclaim",
     "creation; metadata.ownerReferences when taken over; metadata.annotations cdi.kubevirt.io/*"},
    {"pod",                   "creation and deletion of importer-*"                              },
    {"storageprofile",        "creation; status"                                                 },
};

}  // namespace berth::datavolume
