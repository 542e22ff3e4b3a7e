#include "cli/programs.hpp"

#include <string>

#if __has_include("image/worker.hpp")
#include "image/worker.hpp"
#define BERTH_HAS_WORKER
#endif
#include "launcher/edge/programs.hpp"
#include "solo/edge/container_disk.hpp"

namespace berth::cli {

Program program_of(int argc, char** argv) {
    if (argc < 1) return {};
    const std::string path = argv[0];
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name == "virt-launcher-monitor") return launcher::monitor_main;
    if (name == "virt-launcher") return launcher::launcher_main;
    if (name == "container-disk") return solo::container_disk_main;
#ifdef BERTH_HAS_WORKER
    if (argc > 1 && std::string(argv[1]) == "worker") {
        return [](int count, char** words) { return image::worker_main(count - 1, words + 1); };
    }
#endif
    return {};
}

}  // namespace berth::cli
