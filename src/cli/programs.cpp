#include "cli/programs.hpp"

#include <map>
#include <string>

#include "image/worker.hpp"
#include "launcher/edge/programs.hpp"
#include "solo/edge/container_disk.hpp"

namespace berth::cli {

Program program_of(int argc, char** argv) {
    const std::string path = argc > 0 ? argv[0] : "";
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name == "virt-launcher-monitor") return launcher::monitor_main;
    if (name == "virt-launcher") return launcher::launcher_main;
    if (name == "container-disk") return solo::container_disk_main;
    const bool is_worker = name == "virt-cdi-importer" || (argc > 1 && std::string(argv[1]) == "worker");
    if (is_worker) return [](int count, char** words) { return image::worker_main(count - 1, words + 1); };
    return {};
}

}  // namespace berth::cli
