// Imports into what only root can make: block devices, and volumes that are full.
#include <sys/mount.h>

#include "image/import_testing.hpp"

namespace berth::image {
namespace {

using namespace testing;

struct HostImportTest : ImportTest {
    std::string loop;
    fs::path full;

    ~HostImportTest() override {
        if (!loop.empty()) inputs().shell("losetup -d " + loop);
        if (!full.empty()) ::umount2(full.c_str(), MNT_DETACH);
    }
    /// A block device of this many MiB, every byte 0xee.
    void make_device(int mib) {
        const std::string file = (place / "device").string();
        inputs().shell("head -c " + std::to_string(mib) + "M /dev/zero | tr '\\0' '\\356' > " + file);
        const auto made = run({
            .argv = {"losetup", "--show", "-f", file}
        });
        ASSERT_TRUE(made.has_value() && made->exit_code == 0) << (made ? made->errors : made.error().message);
        loop = made->output.substr(0, made->output.find('\n'));
        job.block_device = loop;
    }
    [[nodiscard]] std::string device() const { return content_of(loop, 200); }
    static std::string content_of(const std::string& path, std::size_t mib) {
        std::string out(mib << 20, '\0');
        std::ifstream file(path, std::ios::binary);
        file.read(out.data(), static_cast<std::streamsize>(out.size()));
        out.resize(static_cast<std::size_t>(file.gcount()));
        return out;
    }
    /// A file system with room for so much.
    fs::path make_full(const char* name, const std::string& size) {
        full = place / name;
        fs::create_directories(full);
        EXPECT_EQ(::mount("none", full.c_str(), "tmpfs", 0, ("size=" + size).c_str()), 0);
        return full;
    }
};

TEST_F(HostImportTest, D04_ABlockDeviceHoldsTheDiskAndKeepsItsSize) {
    make_device(20);
    const std::string r = content(inputs().path("r.raw"));
    for (const char* name : {"r.raw", "r.raw.gz", "r.raw.xz", "r.qcow2", "r.qcow2.gz"}) {
        SCOPED_TRACE(name);
        serve(name);
        ASSERT_EQ(error_of_import(), "done");
        const std::string got = device();
        EXPECT_EQ(got.size(), std::size_t{20} << 20);
        EXPECT_EQ(got.compare(0, r.size(), r), 0) << "holes of the image are zeros, not what was there";
        inputs().shell("head -c 20M /dev/zero | tr '\\0' '\\356' > " + loop);
        fs::remove(place / "record" / "c1.json");
    }
    serve("big.qcow2");
    EXPECT_NE(error_of_import().find("permanent: virtual image size 2147483648 is larger"), std::string::npos);
}

TEST_F(HostImportTest, D19_BlankLeavesADeviceAsItIs) {
    make_device(4);
    job.source = "none";
    job.image_size = 4_MiB;
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_EQ(device(), std::string(std::size_t{4} << 20, '\xee'));
    job.preallocates = true;
    fs::remove(place / "record" / "c1.json");
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_EQ(device(), std::string(std::size_t{4} << 20, '\0'));
}

// Room that another pod took comes back; the image has nothing to do with it.
TEST_F(HostImportTest, D05_AFullNodeIsNotTheImagesFault) {
    const fs::path small = make_full("small", "18M");
    job.disk_file = (small / "disk.img").string();
    std::ofstream(small / "other") << std::string(10 << 20, 'x');
    serve("r.raw.gz", {.etag = "\"1\""});
    job.image_size = 0_MiB;  // the request is not what is short
    const std::string got = error_of_import();
    EXPECT_NE(got, "done");
    fs::remove(small / "other");
    EXPECT_EQ(error_of_import(), "done") << got;
}

TEST_F(HostImportTest, D05_AFullSpoolIsToldBeforeTheDownloadAndEnds) {
    const fs::path small = make_full("small", "1M");
    job.spool_dir = small.string();
    serve("r.qcow2", {.takes_ranges = false, .etag = "\"1\""});
    const std::string got = error_of_import();
    EXPECT_TRUE(got.starts_with("transient: converting the image needs ")) << got;
    EXPECT_TRUE(fs::is_empty(small));
    ASSERT_EQ(::mount("none", small.c_str(), "tmpfs", MS_REMOUNT, "size=64M"), 0);
    EXPECT_EQ(error_of_import(), "done") << "the same image, once there is room";
    EXPECT_TRUE(is_equal_to_r());
}

// Another pod writes while the import does: there was room, then there is none, then there is again.
TEST_F(HostImportTest, D05_ADiskThatFillsUpWhileItIsWritten) {
    const fs::path small = make_full("small", "14M");
    job.disk_file = (small / "disk.img").string();
    for (const char* name : {"r.raw", "r.raw.gz", "r.qcow2"}) {
        SCOPED_TRACE(name);
        serve(name, {.etag = "\"1\""});
        const auto cut = import_disk(job, [&](double) {
            if (!fs::exists(small / "other")) std::ofstream(small / "other") << std::string(10 << 20, 'x');
        });
        ASSERT_FALSE(cut.has_value());
        EXPECT_FALSE(is_permanent(cut.error())) << "the image is not at fault";
        EXPECT_NE(cut.error().message.find("no space left on device"), std::string::npos) << cut.error().message;
        EXPECT_FALSE(fs::exists(job.disk_file));
        fs::remove(small / "other");
        ASSERT_EQ(error_of_import(), "done");
        EXPECT_TRUE(is_equal_to_r());
        fs::remove(job.disk_file);
        fs::remove(place / "record" / "c1.json");
    }
}

TEST_F(HostImportTest, D23_EightGibOfNothing) {
    inputs().shell(
        "truncate -s 8G " + (place / "hole").string() + "; printf data | dd of=" + (place / "hole").string() +
        " bs=1M seek=5000 conv=notrunc status=none"
    );
    server.put("/hole", {.file = (place / "hole").string()});
    job.endpoint = server.url("/hole");
    job.image_size = 9_GiB;
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_LT(allocated(), 1 << 20);
    std::ifstream file(disk(), std::ios::binary);
    file.seekg(std::streamoff{5000} << 20);
    EXPECT_EQ(file.get(), 'd');
}

}  // namespace
}  // namespace berth::image
