#include "solo/edge/images.hpp"

#include <gtest/gtest.h>

#include "solo/edge/container_disk.hpp"
#include "solo/edge/image_for_test.hpp"

namespace berth::solo {
namespace {

const std::vector<TestEntry> kDisk = {
    {'f', "disk/disk.qcow2", "bytes"}
};
const std::vector<TestEntry> kShell = {
    {'f', "bin/sh", "#!"}
};
constexpr const char* kConfig =
    R"({"config":{"Entrypoint":["/bin/sh"],"Cmd":["-c","x"],"Env":["A=1"],"WorkingDir":"/w"}})";

/// An archive of a layout: its index and blobs, in an order that needs more than one pass.
void write_archive(const std::string& layout, const std::string& file) {
    std::vector<TestEntry> entries;
    for (const std::string& name : list_dir(layout + "/blobs/sha256")) {
        entries.push_back({'f', "blobs/sha256/" + name, read_file(layout + "/blobs/sha256/" + name).value_or("")});
    }
    entries.push_back({'f', "index.json", read_file(layout + "/index.json").value_or("")});
    ASSERT_TRUE(write_plain(file, tar_of(entries, false), 0644));
}

struct World {
    TempFolder folder;
    DataPaths paths{folder.path + "/d"};
    Images images{paths, folder.path + "/guest.oci.tar"};
};

TEST(Images, BuiltInOnesAreTheMachinesUsr) {
    const World world;
    for (const char* reference : {"berth.local/launcher", "berth.local/worker", "berth.local/launcher:v1"}) {
        const Result<Image> image = world.images.resolve(reference);
        ASSERT_TRUE(image) << image.error().message;
        EXPECT_EQ(image->userland, Userland::host_usr);
        EXPECT_FALSE(image->is_disk);
    }
}

TEST(Images, DiskAndUserland) {
    const World world;
    write_image(world.folder.path + "/layout", {kDisk});
    write_archive(world.folder.path + "/layout", world.folder.path + "/guest.oci.tar");
    write_image(world.paths.images() + "/tools/shell", {kShell}, kConfig, "v1");
    write_archive(world.paths.images() + "/tools/shell", world.paths.images() + "/other.oci.tar");

    const Result<Image> guest = world.images.resolve("berth.local/guest:latest");
    ASSERT_TRUE(guest) << guest.error().message;
    EXPECT_TRUE(guest->is_disk);
    EXPECT_EQ(guest->userland, Userland::host_usr);
    EXPECT_EQ(read_file(guest->tree + "/disk/disk.qcow2"), "bytes");
    for (const std::string& reference :
         {std::string("tools/shell"),
          std::string("tools/shell:v1"),
          "oci:" + world.paths.images() + "/tools/shell:v1",
          std::string("other"),
          "oci-archive:" + world.paths.images() + "/other.oci.tar"}) {
        SCOPED_TRACE(reference);
        const Result<Image> shell = world.images.resolve(reference);
        ASSERT_TRUE(shell) << shell.error().message;
        EXPECT_EQ(shell->userland, Userland::own);
        EXPECT_EQ(shell->entry_point, (std::vector<std::string>{"/bin/sh", "-c", "x"}));
        EXPECT_EQ(shell->env, std::vector<std::string>{"A=1"});
        EXPECT_EQ(shell->working_dir, "/w");
        EXPECT_EQ(read_file(shell->tree + "/bin/sh"), "#!");
    }
    EXPECT_EQ(list_dir(world.paths.image_cache()).size(), 3U) << "two trees and the lock: one image is unpacked once";
}

struct Row {
    std::string reference;
    ErrorKind kind;
    std::vector<std::string> says;
};

TEST(Images, ErrorsSayWhatWasTried) {
    const World world;
    ASSERT_TRUE(make_dirs(world.paths.images() + "/empty", 0755));
    ASSERT_TRUE(write_plain(world.paths.images() + "/text", "no archive", 0644));
    write_image(world.paths.images() + "/tagged", {kShell}, kConfig, "v1");
    const std::string folder = world.paths.images();
    const Row rows[] = {
        {"quay.io/x/y:1",
         ErrorKind::not_found,
         {folder + "/quay.io/x/y:1", folder + "/quay.io/x/y.oci.tar", "skopeo copy docker://quay.io/x/y:1"}},
        {"berth.local/guest",            ErrorKind::not_found, {"guest.oci.tar"}                           },
        {"berth.local/nope",             ErrorKind::not_found, {"launcher, worker and guest"}              },
        {"oci:relative",                 ErrorKind::invalid,   {"must be absolute"}                        },
        {"oci:/no/such/dir",             ErrorKind::not_found, {"/no/such/dir"}                            },
        {"../../etc",                    ErrorKind::invalid,   {"not a reference"}                         },
        {"/etc/passwd",                  ErrorKind::invalid,   {"not a reference"}                         },
        {"",                             ErrorKind::invalid,   {"not a reference"}                         },
        {"empty",                        ErrorKind::invalid,   {"no index.json"}                           },
        {"text",                         ErrorKind::invalid,   {"read archive"}                            },
        {"oci:" + folder + "/tagged:v2", ErrorKind::not_found, {"\"v2\"", "there is \"v1\""}               },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.reference);
        const Result<Image> image = world.images.resolve(row.reference);
        ASSERT_FALSE(image);
        EXPECT_EQ(image.error().kind, row.kind) << image.error().message;
        for (const std::string& part : row.says)
            EXPECT_NE(image.error().message.find(part), std::string::npos) << image.error().message;
    }
}

TEST(ContainerDisk, CopiesTheOneFile) {
    const TempFolder folder;
    ASSERT_TRUE(make_dirs(folder.path + "/disk", 0755));
    const ContainerDiskWish wish{.copy_path = folder.path + "/disk_0", .target = folder.path + "/root.img"};
    EXPECT_EQ(copy_container_disk(wish, folder.path + "/disk").error().kind, ErrorKind::not_found);
    ASSERT_TRUE(write_plain(folder.path + "/disk/a.raw", std::string(100000, 'x'), 0444));
    ASSERT_TRUE(copy_container_disk(wish, folder.path + "/disk"));
    EXPECT_EQ(read_file(wish.target), std::string(100000, 'x'));
    ASSERT_TRUE(write_plain(folder.path + "/disk/b.raw", "y", 0444));
    EXPECT_TRUE(copy_container_disk(wish, folder.path + "/disk")) << "what is there stays";
    const ContainerDiskWish other{.copy_path = folder.path + "/disk_1"};
    EXPECT_NE(copy_container_disk(other, folder.path + "/disk").error().message.find("a.raw b.raw"), std::string::npos);
    const ContainerDiskWish named{.copy_path = folder.path + "/disk_1", .image_path = folder.path + "/disk/b.raw"};
    ASSERT_TRUE(copy_container_disk(named, folder.path + "/disk"));
    EXPECT_EQ(read_file(folder.path + "/disk_1.img"), "y");
}

TEST(ContainerDisk, Arguments) {
    const Result<ContainerDiskWish> wish =
        container_disk_wish({"--copy-path", "/a/disk_0", "--target=/a/root.img", "--image-path", "/disk/x"});
    ASSERT_TRUE(wish);
    EXPECT_EQ(*wish, (ContainerDiskWish{"/a/disk_0", "/a/root.img", "/disk/x"}));
    EXPECT_FALSE(container_disk_wish({}));
    EXPECT_FALSE(container_disk_wish({"--copy-path"}));
    EXPECT_FALSE(container_disk_wish({"--nope", "x"}));
}

}  // namespace
}  // namespace berth::solo
