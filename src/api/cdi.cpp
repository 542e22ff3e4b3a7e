#include "api/cdi.hpp"

#include <algorithm>

#include "api/cdi_fields.hpp"
#include "api/codec_impl.hpp"

namespace berth::api {

int DataVolumeSource::member_count() const {
    const bool members[] = {
        http.has_value(),
        !blank.is_null(),
        !upload.is_null(),
        !s3.is_null(),
        !gcs.is_null(),
        !registry.is_null(),
        !imageio.is_null(),
        !vddk.is_null(),
        pvc.has_value(),
        snapshot.has_value(),
    };
    return static_cast<int>(std::ranges::count(members, true));
}

BERTH_CODEC(DataVolume);
BERTH_CODEC(DataVolumeSpec);
BERTH_CODEC(DataVolumeStatus);
BERTH_CODEC(StorageProfile);
BERTH_CODEC(CdiConfig);

}  // namespace berth::api
