#include "solo/edge/linux_volumes.hpp"

#include "solo/edge/files.hpp"
#include "solo/edge/local_volumes.hpp"
#include "solo/edge/pod_dir.hpp"

namespace berth::solo {

Task<Result<std::string>> LinuxVolumes::make_pod_dir(Uid pod) {
    auto work = [node = node_, pod] { return make_pod_folder(node, pod); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<std::string>> LinuxVolumes::make_empty_dir(
    Uid pod, std::string volume, bool in_memory, std::optional<std::int64_t> fs_group, bool propagates
) {
    EmptyDirWish wish{
        .volume = std::move(volume), .in_memory = in_memory, .fs_group = fs_group, .propagates = propagates
    };
    auto work = [node = node_, pod, wish] { return make_empty_folder(node, pod, wish); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<std::string>> LinuxVolumes::write_files(
    Uid pod,
    std::string volume,
    std::map<std::string, std::string> files,
    std::int64_t mode,
    std::optional<std::int64_t> fs_group
) {
    FilesWish wish{.volume = std::move(volume), .files = std::move(files), .mode = mode, .fs_group = fs_group};
    auto work = [node = node_, pod, wish] { return write_folder(node, pod, wish); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<std::string>> LinuxVolumes::open_path(
    std::string path, std::string type, std::optional<std::int64_t> fs_group
) {
    auto work = [path, type, fs_group]() -> Result<std::string> {
        TRY(const std::string checked, check_path(path, type));
        if (fs_group) TRY_DO(give_to_group(checked, static_cast<gid_t>(*fs_group)));
        return checked;
    };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<void>> LinuxVolumes::remove_pod_dir(Uid pod) {
    auto work = [node = node_, cgroup = cgroup_, pod] { return remove_pod_folder(node, pod, cgroup); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<std::vector<Uid>>> LinuxVolumes::list_pods() {
    auto work = [node = node_] {
        std::vector<Uid> out;
        for (std::string& name : list_dir(node.pods())) out.push_back(Uid{std::move(name)});
        return Result<std::vector<Uid>>(std::move(out));
    };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<std::string>> LinuxVolumes::make_volume(std::string volume, Bytes size, bool block) {
    auto work = [folder = node_.volumes(), volume, size, block] {
        return make_local_volume(folder, volume, size, block);
    };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<void>> LinuxVolumes::delete_volume(std::string volume) {
    auto work = [folder = node_.volumes(), volume] { return delete_local_volume(folder, volume); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<void>> LinuxVolumes::grow_volume(std::string volume, Bytes size) {
    auto work = [folder = node_.volumes(), volume, size] { return grow_local_volume(folder, volume, size); };
    co_return co_await blocking(blocking_, std::move(work));
}

Task<Result<void>> LinuxVolumes::restore_volumes() {
    auto work = [folder = node_.volumes()] { return restore_local_volumes(folder); };
    co_return co_await blocking(blocking_, std::move(work));
}

}  // namespace berth::solo
