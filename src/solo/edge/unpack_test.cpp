#include "solo/edge/unpack.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "solo/edge/image_for_test.hpp"

namespace berth::solo {
namespace {

struct Row {
    std::string given;
    std::vector<std::vector<TestEntry>> layers;
    std::string wanted;  ///< "path=content" of files, "path/" of folders, "path>target" of links, by name
};

void describe(const std::string& root, const std::string& path, std::string& out) {
    for (const std::string& name : list_dir(root + "/" + path)) {
        const std::string at = path.empty() ? name : path + "/" + name;
        struct stat status{};
        ::lstat((root + "/" + at).c_str(), &status);
        if (S_ISDIR(status.st_mode)) {
            out += at + "/ ";
            describe(root, at, out);
        } else if (S_ISLNK(status.st_mode)) {
            char target[256] = {};
            static_cast<void>(::readlink((root + "/" + at).c_str(), target, sizeof target - 1));
            out += at + ">" + target + " ";
        } else {
            out += at + "=" + read_file(root + "/" + at).value_or("?") + " ";
        }
    }
}

/// Unpacks the layers one over the other and tells what is there then, or the error.
std::string unpacked(const std::vector<std::vector<TestEntry>>& layers, const std::string& folder) {
    const std::vector<std::string> digests = write_image(folder + "/layout", layers);
    const std::string root = folder + "/root";
    static_cast<void>(make_dirs(root, 0755));
    const Result<std::unique_ptr<ImageSource>> source = open_image_source(folder + "/layout");
    for (const std::string& digest : digests) {
        const Result<void> done = unpack_layer(**source, digest, root);
        if (!done) return "error: " + done.error().message.substr(done.error().message.find(": ") + 2);
    }
    std::string out;
    describe(root, "", out);
    return out.empty() ? out : out.substr(0, out.size() - 1);
}

TEST(Unpack, Layers) {
    const Row rows[] = {
        {"files, folders made on the way",       {{{'f', "a/b", "x"}, {'d', "c", ""}}},                                            "a/ a/b=x c/"                                                   },
        {"names with ./ and /",                  {{{'f', "./a", "1"}, {'f', "/b", "2"}}},                                          "a=1 b=2"                                                       },
        {"a later layer replaces",               {{{'f', "a", "old"}}, {{'f', "a", "new"}}},                                       "a=new"                                                         },
        {"a folder stays a folder",              {{{'f', "d/a", "1"}}, {{'d', "d", ""}, {'f', "d/b", "2"}}},                       "d/ d/a=1 d/b=2"                                                },
        {"a file replaces a folder",             {{{'f', "d/a", "1"}}, {{'f', "d", "2"}}},                                         "d=2"                                                           },
        {"whiteout",                             {{{'f', "a", "1"}, {'f', "d/b", "2"}}, {{'f', ".wh.a", ""}, {'f', ".wh.d", ""}}}, ""                                                              },
        {"opaque folder",                        {{{'f', "d/a", "1"}}, {{'f', "d/b", "2"}, {'f', "d/.wh..wh..opq", ""}}},          "d/ d/b=2"                                                      },
        {"hard link",                            {{{'f', "a", "1"}, {'h', "b", "a"}}},                                             "a=1 b=1"                                                       },
        {"link to a folder of the image",
         {{{'d', "usr/bin", ""}, {'l', "bin", "usr/bin"}, {'f', "bin/x", "1"}}},
         "bin>usr/bin usr/ usr/bin/ usr/bin/x=1"                                                                                                                                                   },
        {"absolute link stays in the image",
         {{{'d', "data", ""}, {'l', "l", "/data"}, {'f', "l/x", "1"}}},
         "data/ data/x=1 l>/data"                                                                                                                                                                  },
        {"link upwards is held at the root",
         {{{'d', "data", ""}, {'l', "l", "../../../data"}, {'f', "l/x", "1"}}},
         "data/ data/x=1 l>../../../data"                                                                                                                                                          },
        {"link out, then through it",            {{{'l', "l", "/"}, {'f', "l/x", "1"}}},                                           "l>/ x=1"                                                       },
        {"a file does not write through a link", {{{'l', "l", "/etc/passwd"}, {'f', "l", "1"}}},                                   "l=1"                                                           },
        {"..",                                   {{{'f', "../x", "1"}}},                                                           "error: entry \"../x\" leaves its image; use another image"     },
        {".. inside",                            {{{'f', "a/../../x", "1"}}},                                                      "error: entry \"a/../../x\" leaves its image; use another image"},
        {"hard link out",
         {{{'h', "x", "../../etc/passwd"}}},
         "error: entry \"x\": entry \"../../etc/passwd\" leaves its image; use another image"                                                                                                      },
        {"hard link through a link",
         {{{'l', "l", "/"}, {'h', "x", "l/etc/passwd"}}},
         "error: entry \"x\": hard link to \"l/etc/passwd\": No such file or directory"                                                                                                            },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        const TempFolder folder;
        EXPECT_EQ(unpacked(row.layers, folder.path), row.wanted);
    }
}

TEST(Unpack, DamagedLayerIsRefused) {
    const TempFolder folder;
    const std::string layout = folder.path + "/layout";
    const std::vector<std::string> digests = write_image(layout, {{{'f', "a", "1"}}});
    const std::string other = tar_of(
        {
            {'f', "a", "2"}
    },
        true
    );
    ASSERT_TRUE(write_plain(layout + "/" + *blob_path(digests[0]), other, 0644));
    ASSERT_TRUE(make_dirs(folder.path + "/root", 0755));
    const Result<void> done = unpack_layer(**open_image_source(layout), digests[0], folder.path + "/root");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::invalid);
    EXPECT_NE(done.error().message.find("is damaged"), std::string::npos) << done.error().message;
}

TEST(Unpack, DeepTreesAreRemoved) {
    TempFolder folder;
    std::string path = folder.path + "/top";
    for (int i = 0; i < 300; ++i) path += "/d";
    ASSERT_TRUE(make_dirs(path, 0755));
    ASSERT_TRUE(remove_tree(folder.path + "/top"));
    EXPECT_FALSE(exists(folder.path + "/top"));
}

}  // namespace
}  // namespace berth::solo
