// An import against nbdkit's curl plugin and qemu-img convert, on the same input, taking turns. Both end with the bytes
// on disk. Prints the median of each and their ratio.
//
// usage: import_bench FOLDER [MIB]     MIB: virtual size of the disk; 5 of 16 parts hold data, half of it random
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "file_server.hpp"
#include "image/import.hpp"
#include "image/process.hpp"

namespace {

namespace fs = std::filesystem;
using namespace berth;

constexpr int kRounds = 3;

void shell(const std::string& line) {
    const auto done = image::run({
        .argv = {"sh", "-ec", line}
    });
    if (done && done->exit_code == 0) return;
    std::fprintf(stderr, "%s: %s\n", line.c_str(), (done ? done->errors : done.error().message).c_str());
    std::exit(1);
}

// Runs of 1 MiB: text-like, random, and holes, as a disk with an operating system has them.
void make_disk(const fs::path& path, int mib) {
    std::mt19937_64 random(3);
    std::ofstream out(path, std::ios::binary);
    std::vector<std::uint64_t> part((1 << 20) / sizeof(std::uint64_t));
    for (int i = 0; i < mib; ++i) {
        const int kind = i % 16;
        if (kind >= 5) {
            out.seekp(1 << 20, std::ios::cur);
            continue;
        }
        std::uint64_t word = random();
        for (std::size_t k = 0; k < part.size(); ++k) {
            if (kind % 2 == 0 || k % 8 == 0) word = random();
            part[k] = word;
        }
        out.write(reinterpret_cast<const char*>(part.data()), 1 << 20);
    }
    out.close();
    fs::resize_file(path, static_cast<std::uintmax_t>(mib) << 20);
}

double seconds_of(const std::function<void()>& act) {
    const auto begin = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> all) {
    std::ranges::sort(all);
    return all[all.size() / 2];
}

void import(const fs::path& folder, const std::string& url, int mib) {
    image::Job job;
    job.source = "http";
    job.endpoint = url;
    job.image_size = Bytes{static_cast<std::int64_t>(mib) << 20};
    job.overhead = {0};
    job.disk_file = (folder / "ours.img").string();
    job.block_device = (folder / "none").string();
    job.spool_dir = folder.string();
    job.state_dir.clear();
    job.termination_log = (folder / "log").string();
    const auto done = image::import_disk(job, {});
    if (done) return;
    std::fprintf(stderr, "import %s: %s\n", url.c_str(), done.error().message.c_str());
    std::exit(1);
}

void peer(const fs::path& folder, const std::string& url, const std::string& filter, const std::string& format) {
    const std::string out = (folder / "peer.img").string();
    shell(
        "nbdkit -U - -r " + filter + " curl url=" + url + " protocols=http --run 'qemu-img convert -f " + format +
        " -O raw \"$uri\" " + out + "' && sync " + out
    );
}

struct Input {
    const char* name;
    const char* filter;  ///< of nbdkit
    const char* format;  ///< as qemu-img calls it
};

constexpr Input kInputs[] = {
    {"disk.raw",     "",              "raw"  },
    {"disk.qcow2",   "",              "qcow2"},
    {"packed.qcow2", "",              "qcow2"},
    {"disk.raw.gz",  "--filter=gzip", "raw"  },
    {"disk.raw.xz",  "--filter=xz",   "raw"  },
};

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        std::fprintf(stderr, "usage: import_bench FOLDER [MIB]\n");
        return 2;
    }
    const fs::path folder = argv[1];
    const int mib = argc > 2 ? std::atoi(argv[2]) : 1024;
    make_disk(folder / "disk.raw", mib);
    shell(
        "cd '" + folder.string() +
        "'; qemu-img convert -f raw -O qcow2 disk.raw disk.qcow2; "
        "qemu-img convert -c -o compression_type=zstd -f raw -O qcow2 disk.raw packed.qcow2; "
        "gzip -1kc disk.raw > disk.raw.gz; xz -0 -T2 -kc disk.raw > disk.raw.xz"
    );
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("disk of %d MiB, %d MiB of data; median of %d rounds, in turns\n", mib, mib / 16 * 5, kRounds);
    for (const Input& input : kInputs) {
        const berth::bench::FileServer server((folder / input.name).string());
        std::vector<double> ours, theirs;
        for (int round = 0; round < kRounds; ++round) {
            fs::remove(folder / "ours.img");
            fs::remove(folder / "peer.img");
            ours.push_back(seconds_of([&] { import(folder, server.url(), mib); }));
            theirs.push_back(seconds_of([&] { peer(folder, server.url(), input.filter, input.format); }));
        }
        shell("cmp '" + (folder / "ours.img").string() + "' '" + (folder / "peer.img").string() + "'");
        std::printf(
            "%-14s import %6.2f s   nbdkit-curl + qemu-img convert %6.2f s   ratio %.2f\n",
            input.name,
            median(ours),
            median(theirs),
            median(ours) / median(theirs)
        );
        std::fflush(stdout);
    }
    return 0;
}
