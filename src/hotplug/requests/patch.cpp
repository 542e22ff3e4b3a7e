#include "hotplug/requests/patch.hpp"

#include "api/codec.hpp"
#include "hotplug/lists.hpp"

namespace berth::hotplug {
namespace {

constexpr std::string_view kQueue = "/status/volumeRequests";

json::Value operation(std::string_view op, const std::string& path, json::Value value) {
    return json::Object{
        {"op",    op              },
        {"path",  path            },
        {"value", std::move(value)}
    };
}

json::Value test_of(const json::Value& object, const std::string& path) {
    const json::Value* found = json::find(object, path);
    return operation("test", path, found == nullptr ? json::Value() : *found);
}

json::Value change_of(const json::Value& object, const std::string& path, json::Array list) {
    return operation(list_at(object, path).empty() ? "add" : "replace", path, std::move(list));
}

json::Value patch_lists(const json::Value& object, const std::string& spec, json::Array volumes, json::Array disks) {
    const std::string volumes_at = spec + std::string(kVolumes);
    const std::string disks_at = spec + std::string(kDisks);
    json::Array out;
    out.push_back(test_of(object, volumes_at));
    out.push_back(test_of(object, disks_at));
    out.push_back(change_of(object, volumes_at, std::move(volumes)));
    out.push_back(change_of(object, disks_at, std::move(disks)));
    return out;
}

json::Value patch_queue(const json::Value& vm, json::Array queue) {
    json::Array out;
    out.push_back(test_of(vm, std::string(kQueue)));
    out.push_back(change_of(vm, std::string(kQueue), std::move(queue)));
    return out;
}

json::Array without(const json::Array& list, std::string_view name) {
    json::Array out;
    for (const json::Value& one : list) {
        if (json::text_at(one, "/name") != name) out.push_back(one);
    }
    return out;
}

}  // namespace

json::Value patch_to_add(const json::Value& object, const std::string& spec, const Options& options) {
    json::Array volumes = list_at(object, spec + std::string(kVolumes));
    json::Array disks = list_at(object, spec + std::string(kDisks));
    volumes.push_back(api::encode(options.volume));
    disks.push_back(api::encode(*options.disk));
    return patch_lists(object, spec, std::move(volumes), std::move(disks));
}

json::Value patch_to_remove(const json::Value& object, const std::string& spec, std::string_view volume) {
    return patch_lists(
        object,
        spec,
        without(list_at(object, spec + std::string(kVolumes)), volume),
        without(list_at(object, spec + std::string(kDisks)), volume)
    );
}

json::Value patch_to_queue_add(const json::Value& vm, const Options& options) {
    json::Value source = api::encode(options.volume);
    source.get_object().erase("name");
    json::Object asked{
        {"name",         options.name              },
        {"disk",         api::encode(*options.disk)},
        {"volumeSource", std::move(source)         }
    };
    json::Array queue = list_at(vm, kQueue);
    queue.push_back(json::Object{
        {"addVolumeOptions", std::move(asked)}
    });
    return patch_queue(vm, std::move(queue));
}

json::Value patch_to_queue_remove(const json::Value& vm, std::string_view volume) {
    json::Array queue;
    for (const json::Value& request : list_at(vm, kQueue)) {
        if (json::text_at(request, "/addVolumeOptions/name") != volume) queue.push_back(request);
    }
    queue.push_back(json::Object{
        {"removeVolumeOptions", json::Object{{"name", volume}}}
    });
    return patch_queue(vm, std::move(queue));
}

}  // namespace berth::hotplug
