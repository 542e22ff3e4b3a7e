#include "api/core.hpp"

#include "api/codec_impl.hpp"
#include "api/core_fields.hpp"

namespace berth::api {

Bytes ClaimSpec::request() const {
    const auto it = resources.requests.find("storage");
    return it == resources.requests.end() ? Bytes{} : bytes_or_zero(it->second);
}

ContainerState container_state(const json::Value& state) {
    ContainerState out;
    const auto time_at = [&](std::string_view pointer) { return from_rfc3339(json::text_at(state, pointer)); };
    out.waiting_reason = json::text_at(state, "/waiting/reason");
    out.waiting_message = json::text_at(state, "/waiting/message");
    out.running_since = time_at("/running/startedAt");
    out.exit_code = json::integer_at(state, "/terminated/exitCode");
    out.terminated_reason = json::text_at(state, "/terminated/reason");
    out.terminated_message = json::text_at(state, "/terminated/message");
    out.started_at = time_at("/terminated/startedAt");
    out.finished_at = time_at("/terminated/finishedAt");
    return out;
}

json::Value to_json(const ContainerState& state) {
    json::Value out = json::Object();
    const auto put = [&](std::string_view pointer, const std::string& text) {
        if (!text.empty()) json::set(out, pointer, json::Value(text));
    };
    const auto put_time = [&](std::string_view pointer, const std::optional<Timestamp>& at) {
        if (at) json::set(out, pointer, json::Value(to_rfc3339(*at)));
    };
    if (state.exit_code) {
        json::set(out, "/terminated/exitCode", json::Value(*state.exit_code));
        put("/terminated/reason", state.terminated_reason);
        put("/terminated/message", state.terminated_message);
        put_time("/terminated/startedAt", state.started_at);
        put_time("/terminated/finishedAt", state.finished_at);
    } else if (state.running_since) {
        put_time("/running/startedAt", state.running_since);
    } else {
        put("/waiting/reason", state.waiting_reason);
        put("/waiting/message", state.waiting_message);
    }
    return out;
}

BERTH_CODEC(Pod);
BERTH_CODEC(PodSpec);
BERTH_CODEC(PodStatus);
BERTH_CODEC(Affinity);
BERTH_CODEC(Toleration);
BERTH_CODEC(Container);
BERTH_CODEC(ContainerStatus);
BERTH_CODEC(ResourceRequirements);
BERTH_CODEC(PersistentVolumeClaim);
BERTH_CODEC(ClaimSpec);
BERTH_CODEC(ClaimStatus);
BERTH_CODEC(PersistentVolume);
BERTH_CODEC(VolumeSpec);
BERTH_CODEC(StorageClass);
BERTH_CODEC(CsiDriver);
BERTH_CODEC(CsiStorageCapacity);
BERTH_CODEC(Node);
BERTH_CODEC(Namespace);
BERTH_CODEC(ConfigMap);
BERTH_CODEC(Secret);
BERTH_CODEC(PriorityClass);

}  // namespace berth::api
