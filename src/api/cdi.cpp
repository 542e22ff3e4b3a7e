#include "api/cdi.hpp"

#include "api/cdi_fields.hpp"
#include "api/codec_impl.hpp"

namespace berth::api {

BERTH_CODEC(DataVolume);
BERTH_CODEC(DataVolumeSpec);
BERTH_CODEC(DataVolumeStatus);
BERTH_CODEC(StorageProfile);
BERTH_CODEC(CdiConfig);

}  // namespace berth::api
