// Images of every format, made once, and a place to import them to.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "image/import.hpp"
#include "image/process.hpp"
#include "image/server_testing.hpp"

namespace berth::image::testing {

namespace fs = std::filesystem;

inline constexpr std::int64_t kDiskSize = 12 << 20;

// The inputs, made once: a disk R with data at both ends and holes between, and the same in every format.
struct Inputs {
    fs::path root;

    Inputs() {
        std::string name = (fs::temp_directory_path() / "berth-image-XXXXXX").string();
        root = ::mkdtemp(name.data());
        make_disk();
        shell("gzip -1kc r.raw > r.raw.gz; xz -0 -T2 --block-size=4MiB -kc r.raw > r.raw.xz; zstd -q r.raw -o r.raw.zst"
        );
        shell(
            "head -c 5000000 r.raw | gzip -1c > two.gz; tail -c +5000001 r.raw | gzip -1c >> two.gz; head -c 512 "
            "/dev/zero >> two.gz"
        );
        for (const char* format : {"qcow2", "vmdk", "vdi", "vpc", "vhdx"}) {
            const std::string option = std::string(format) == "vpc" ? " -o force_size=on" : "";
            shell(std::string("qemu-img convert -q -f raw -O ") + format + option + " r.raw r." + format);
        }
        shell("qemu-img convert -q -c -f raw -O qcow2 r.raw compressed.qcow2");
        shell("gzip -1kc r.qcow2 > r.qcow2.gz; xz -0 -kc r.qcow2 > r.qcow2.xz");
        shell("qemu-img create -q -f qcow2 big.qcow2 2G");
        shell("qemu-img create -q -f qcow2 -F raw -b /etc/passwd backed.qcow2 16M");
        shell(
            "qemu-img create -q -f qcow2 -o data_file=data.raw,data_file_raw=on external.qcow2 16M; cp /etc/passwd "
            "data.raw"
        );
        shell(
            "qemu-img create -q -f qcow2 hole.qcow2 512G; qemu-io -f qcow2 -c 'write -P 7 300G 1M' hole.qcow2 > "
            "/dev/null"
        );
        shell("truncate -s 1G hole.raw; printf data | dd of=hole.raw bs=1M seek=700 conv=notrunc status=none");
        shell(
            "head -c 100 r.raw > short.raw; head -c 70000 r.raw.gz > cut.gz; truncate -s 2M zeros; gzip -c zeros > "
            "zeros.gz"
        );
        shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.crt -days 2 "
            "-subj /CN=test "
            "-addext subjectAltName=IP:127.0.0.1 2>/dev/null; mkdir certs; cp tls.crt certs/any-name"
        );
    }
    ~Inputs() { fs::remove_all(root); }

    void make_disk() const {
        std::mt19937_64 random(7);
        std::ofstream out(root / "r.raw", std::ios::binary);
        // Random, but repeated within each MiB: compressing it costs little.
        std::vector<std::uint64_t> part(1 << 14);
        for (int i = 0; i < kDiskSize >> 20; ++i) {
            const bool is_hole = i % 4 == 1 || i % 4 == 2;
            for (auto& word : part) word = is_hole ? 0 : random();
            for (int k = 0; k < 8; ++k) out.write(reinterpret_cast<const char*>(part.data()), 1 << 17);
        }
    }
    void shell(const std::string& line) const {
        const auto done = run({
            .argv = {"sh", "-ec", "cd '" + root.string() + "'; " + line}
        });
        if (!done || done->exit_code != 0) {
            ADD_FAILURE() << line << ": " << (done ? done->errors : done.error().message);
        }
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (root / name).string(); }
};

inline const Inputs& inputs() {
    static const Inputs all;
    return all;
}

inline std::string content(const std::string& path) {
    std::string out(fs::exists(path) ? fs::file_size(path) : 0, '\0');
    std::ifstream(path, std::ios::binary).read(out.data(), static_cast<std::streamsize>(out.size()));
    return out;
}

struct ImportTest : ::testing::Test {
    fs::path place;
    Server server;
    Job job;

    ImportTest() {
        static int number = 0;
        place = inputs().root / ("case" + std::to_string(++number));
        for (const char* name : {"data", "scratch", "state", "record"}) fs::create_directories(place / name);
        job.source = "http";
        job.image_size = 16_MiB;
        job.claim_uid = "c1";
        job.block_device = (place / "none").string();
        job.disk_file = disk();
        job.spool_dir = (place / "scratch").string();
        job.state_dir = (place / "state").string();
        job.record_dir = (place / "record").string();
        job.termination_log = (place / "termination").string();
        job.stall_timeout = std::chrono::seconds(20);
    }
    ~ImportTest() override { fs::remove_all(place); }

    [[nodiscard]] std::string disk() const { return (place / "data" / "disk.img").string(); }
    std::string serve(const std::string& name, Page page = {}) {
        page.file = inputs().path(name);
        server.put("/" + name, page);
        job.endpoint = server.url("/" + name);
        return name;
    }
    Result<Imported> import() { return import_disk(job, {}); }
    std::string error_of_import() {
        const auto done = import();
        return done ? std::string("done")
                    : (is_permanent(done.error()) ? "permanent: " : "transient: ") + done.error().message;
    }
    [[nodiscard]] bool is_equal_to_r() const {
        const std::string got = content(job.disk_file);
        const std::string r = content(inputs().path("r.raw"));
        return got.size() >= r.size() && got.compare(0, r.size(), r) == 0 &&
               got.find_first_not_of('\0', r.size()) == std::string::npos;
    }
    [[nodiscard]] std::int64_t allocated() const {
        struct stat found = {};
        return ::stat(disk().c_str(), &found) == 0 ? found.st_blocks * 512 : -1;
    }
    /// As on another node, or for another claim.
    void forget() const {
        fs::remove(place / "record" / "c1.json");
        fs::remove(disk());
    }
    void expect_nothing_left() const {
        EXPECT_FALSE(fs::exists(disk()));
        EXPECT_TRUE(fs::is_empty(place / "scratch"));
        EXPECT_TRUE(fs::is_empty(place / "record"));
    }
};

}  // namespace berth::image::testing
