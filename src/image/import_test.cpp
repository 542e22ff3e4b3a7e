// Imports of real images from a real server, well behaved and not.
#include "image/import_testing.hpp"
#include "image/worker.hpp"

namespace berth::image {
namespace {

using namespace testing;

TEST_F(ImportTest, D01_D02_EveryFormatGivesTheSameDisk) {
    for (const char* name :
         {"r.raw",
          "r.raw.gz",
          "two.gz",
          "r.raw.xz",
          "r.raw.zst",
          "r.qcow2",
          "compressed.qcow2",
          "r.vmdk",
          "r.vdi",
          "r.vpc",
          "r.vhdx",
          "r.qcow2.gz",
          "r.qcow2.xz"}) {
        for (const bool takes_ranges : {true, false}) {
            SCOPED_TRACE(std::string(name) + (takes_ranges ? " with ranges" : " as a stream"));
            if (takes_ranges && std::string_view(name).ends_with("z")) continue;  // streamed either way
            serve(name, {.takes_ranges = takes_ranges, .etag = "\"1\""});
            const auto done = import();
            ASSERT_TRUE(done.has_value()) << done.error().message;
            EXPECT_TRUE(is_equal_to_r());
            EXPECT_EQ(done->completion.virtual_size, 15_MiB) << "16Mi less an overhead of 0.06, in whole MiB";
            struct stat found = {};
            ::stat(disk().c_str(), &found);
            EXPECT_EQ(found.st_mode & 0777, 0660U);
            EXPECT_LT(allocated(), 8 << 20) << "holes stay holes";
            EXPECT_TRUE(fs::is_empty(place / "scratch"));
            forget();
        }
    }
}

TEST_F(ImportTest, QcowIsReadByRangesOnly) {
    serve("hole.qcow2");
    job.image_size = 600_GiB;
    job.is_thin = true;  // whatever room this machine has
    ASSERT_EQ(error_of_import(), "done");
    int whole = 0;
    for (const auto& one : server.seen()) whole += one.method == "GET" && one.range.empty() ? 1 : 0;
    EXPECT_EQ(whole, 1) << "the first look; it ends with the header";
}

TEST_F(ImportTest, D23_HolesTakeNoRoom) {
    serve("hole.raw");
    job.image_size = 2_GiB;
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_LT(allocated(), 1 << 20);
    serve("hole.qcow2");
    job.image_size = 600_GiB;
    job.is_thin = true;  // whatever room this machine has
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_LT(allocated(), 4 << 20);
    std::ifstream file(disk(), std::ios::binary);
    file.seekg(std::streamoff{300} << 30);
    EXPECT_EQ(file.get(), 7);
}

TEST_F(ImportTest, D05_TooLargeIsRefusedBeforeTheDownload) {
    job.image_size = 1_GiB;
    serve("big.qcow2");
    EXPECT_EQ(
        error_of_import(),
        "permanent: virtual image size 2147483648 is larger than the reported available storage 1073741824. A larger "
        "PVC is required"
    );
    expect_nothing_left();
    serve("r.raw");
    job.image_size = 4_MiB;
    EXPECT_EQ(
        error_of_import(),
        "permanent: virtual image size 12582912 is larger than the reported available storage 4194304. A larger PVC is "
        "required"
    );
    // A compressed disk shows its size only as it comes.
    serve("r.raw.gz");
    EXPECT_NE(error_of_import().find("is larger than the reported available storage 4194304"), std::string::npos);
    expect_nothing_left();
}

TEST_F(ImportTest, D05_ThenOnlyACheapLook) {
    job.image_size = 4_MiB;
    serve("r.raw.gz", {.etag = "\"1\""});
    const std::string first = error_of_import();
    EXPECT_EQ(server.count("GET"), 1);
    EXPECT_EQ(error_of_import(), first);
    EXPECT_EQ(server.count("GET"), 1) << "the second try asks whether the image changed, and no more";
    serve("r.raw.gz", {.etag = "\"2\""});
    EXPECT_EQ(error_of_import(), first);
    EXPECT_EQ(server.count("GET"), 2);
    job.image_size = 16_MiB;
    EXPECT_EQ(error_of_import(), "done");
}

TEST_F(ImportTest, D06_E31_StatusCodes) {
    job.endpoint = server.url("/none");
    EXPECT_EQ(
        error_of_import(),
        "transient: Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found"
    );
    serve("r.raw", {.status = 503});
    EXPECT_NE(
        error_of_import().find("transient: Unable to connect to http data source: expected status code 200, got 503"),
        std::string::npos
    );
    serve("r.raw", {.takes_head = false, .takes_ranges = false});
    EXPECT_EQ(error_of_import(), "done") << "HEAD is refused, GET is not";
    EXPECT_TRUE(is_equal_to_r());
}

TEST_F(ImportTest, D07_I30_CredentialsStayWithTheirOrigin) {
    serve("r.raw", {.user = "me", .password = "secret"});
    EXPECT_NE(
        error_of_import().find("permanent: Unable to connect to http data source: expected status code 200, got 401"),
        std::string::npos
    );
    job.user = "me";
    job.password = "secret";
    server.put("/moved", {.status = 302, .location = "/r.raw"});
    job.endpoint = server.url("/moved");
    EXPECT_EQ(error_of_import(), "done");
    forget();
    Server other;
    other.put("/r.qcow2", {.file = inputs().path("r.qcow2")});
    server.put("/away", {.status = 307, .location = other.url("/r.qcow2")});
    job.endpoint = server.url("/away");
    job.headers = {"X-Token: t"};
    EXPECT_EQ(error_of_import(), "done");
    EXPECT_TRUE(is_equal_to_r());
    for (const auto& one : other.seen()) {
        EXPECT_EQ(one.authorization, "");
        EXPECT_EQ(one.headers.find("X-Token"), std::string::npos);
    }
}

TEST_F(ImportTest, P80_Redirects) {
    struct Row {
        const char* to;
        const char* expected;
    };
    const Row rows[] = {
        {"/loop",              "transient: Unable to connect to http data source: the server redirects more than 10 times"},
        {"file:///etc/passwd",
         "permanent: Unable to connect to http data source: the server redirects to something that is not http or "
         "https: use a URL that it serves itself"                                                                         },
    };
    job.endpoint = server.url("/loop");
    for (const Row& row : rows) {
        server.put("/loop", {.status = 301, .location = row.to});
        EXPECT_EQ(error_of_import(), row.expected);
    }
}

TEST_F(ImportTest, D08_PrivateAuthority) {
    Server secure(inputs().path("tls.crt"), inputs().path("tls.key"));
    for (const char* name : {"r.raw", "r.qcow2"}) {
        SCOPED_TRACE(name);
        secure.put("/x", {.file = inputs().path(name)});
        job.endpoint = secure.url("/x");
        job.cert_dir.clear();
        job.trusts_any_certificate = false;
        const std::string refused = error_of_import();
        EXPECT_TRUE(refused.starts_with(
            "permanent: Unable to connect to http data source: the server's certificate is not trusted: "
        )) << refused;
        EXPECT_TRUE(refused.ends_with("name the certificate's issuer in certConfigMap, or set insecureSkipVerify"))
            << refused;
        job.cert_dir = inputs().path("certs");
        EXPECT_EQ(error_of_import(), "done");
        EXPECT_TRUE(is_equal_to_r());
        forget();
        job.cert_dir.clear();
        job.trusts_any_certificate = true;
        EXPECT_EQ(error_of_import(), "done");
        forget();
    }
}

TEST_F(ImportTest, D09_ExtraHeaders) {
    for (const char* name : {"r.raw", "r.qcow2"}) {
        SCOPED_TRACE(name);
        serve(name, {.needs_header = "X-Key: it's"});
        job.secret_headers.clear();
        EXPECT_NE(error_of_import().find("got 400"), std::string::npos);
        job.secret_headers = {"X-Key: it's"};
        EXPECT_EQ(error_of_import(), "done");
        EXPECT_TRUE(is_equal_to_r());
        forget();
    }
}

TEST_F(ImportTest, D10_F027_Checksums) {
    for (const char* name : {"r.raw", "r.raw.gz", "r.qcow2", "r.qcow2.xz"}) {
        SCOPED_TRACE(name);
        const bool is_first = std::string_view(name) == "r.raw";
        for (const char* algorithm :
             is_first ? std::vector{"md5", "sha1", "sha512", "sha256"} : std::vector{"sha256"}) {
            const auto sum = run({
                .argv = {std::string(algorithm) + "sum", inputs().path(name)}
            });
            serve(name);
            job.checksum = std::string(algorithm) + ":" + sum->output.substr(0, sum->output.find(' '));
            ASSERT_EQ(error_of_import(), "done") << algorithm;
            EXPECT_TRUE(is_equal_to_r());
            forget();
        }
        job.checksum = "sha256:" + std::string(64, '0');
        const std::string wrong = error_of_import();
        EXPECT_TRUE(wrong.starts_with("permanent: checksum mismatch: the image's sha256 is ")) << wrong;
        expect_nothing_left();
    }
    job.checksum = "sha256:0";
    EXPECT_EQ(error_of_import(), "permanent: invalid checksum format: a sha256 has 64 hex digits");
}

TEST_F(ImportTest, D18_Blank) {
    job.source = "none";
    job.image_size = 500_MiB;
    const auto done = import();
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(fs::file_size(disk()), static_cast<std::uintmax_t>((471_MiB).value));
    EXPECT_EQ(allocated(), 0);
}

// A share of the node's file system has the size of its claim, and takes room only as it is written.
TEST_F(ImportTest, D18_D23_AThinVolumeIsAsLargeAsItsClaim) {
    const auto room = free_space((place / "data").string());
    ASSERT_TRUE(room.has_value());
    const Bytes claim = datavolume::round_up_to_mib(*room + 64_GiB);
    job.source = "none";
    job.image_size = claim;
    job.overhead = {0};
    job.is_thin = true;
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_EQ(fs::file_size(disk()), static_cast<std::uintmax_t>(claim.value));
    EXPECT_EQ(allocated(), 0);
    forget();
    job.source = "http";
    job.image_size = 1_GiB;
    serve("big.qcow2");
    EXPECT_NE(error_of_import().find("larger than the reported available storage 1073741824"), std::string::npos);
}

TEST_F(ImportTest, D20_Preallocation) {
    job.preallocates = true;
    job.source = "none";
    job.image_size = 20_MiB;
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_GE(allocated(), static_cast<std::int64_t>(fs::file_size(disk())));
    job.source = "http";
    for (const char* name : {"r.raw", "r.qcow2"}) {
        serve(name);
        ASSERT_EQ(error_of_import(), "done") << name;
        EXPECT_GE(allocated(), static_cast<std::int64_t>(fs::file_size(disk()))) << name;
        EXPECT_TRUE(is_equal_to_r()) << name;
        forget();
    }
}

TEST_F(ImportTest, D21_NothingOutsideTheImageIsRead) {
    for (const char* name : {"backed.qcow2", "external.qcow2"}) {
        for (const bool takes_ranges : {true, false}) {
            SCOPED_TRACE(name);
            serve(name, {.takes_ranges = takes_ranges});
            const std::string refused = error_of_import();
            EXPECT_TRUE(refused.starts_with("permanent: the image is invalid because it has invalid backing file"))
                << refused;
            expect_nothing_left();
        }
    }
}

TEST_F(ImportTest, D22_P76_ClosedEarlyIsTransientAndStartsOver) {
    for (const char* name : {"r.raw", "r.raw.gz", "r.raw.zst", "r.qcow2.gz"}) {
        for (const bool says_length : {true, false}) {
            SCOPED_TRACE(std::string(name) + (says_length ? "" : " without a length"));
            serve(name, {.says_length = says_length, .closes_after = 200 << 10, .closes_times = 2});
            for (int i = 0; i < 2; ++i) {
                const std::string cut = error_of_import();
                // Without any length only the format can tell that something is missing.
                EXPECT_TRUE(cut.starts_with(says_length ? "transient: the connection closed early" : "")) << cut;
                if (says_length) expect_nothing_left();
                forget();
            }
            EXPECT_EQ(error_of_import(), "done");
            EXPECT_TRUE(is_equal_to_r());
            forget();
        }
    }
}

TEST_F(ImportTest, DamagedImages) {
    serve("short.raw");
    EXPECT_EQ(
        error_of_import(), "permanent: could not process image header: the image has only 100 bytes: check the URL"
    );
    serve("cut.gz");
    EXPECT_EQ(
        error_of_import(), "permanent: the image's gzip data is damaged: it ends in the middle: replace the image"
    );
    expect_nothing_left();
    serve("zeros.gz");
    EXPECT_EQ(error_of_import(), "done");
    EXPECT_EQ(allocated(), 0);
}

TEST_F(ImportTest, KilledAndStartedAgainItBeginsAnew) {
    std::ofstream(disk()) << std::string(30 << 20, 'x');
    std::ofstream(job.spool_dir + "/berth-spool") << "half";
    serve("r.qcow2.gz");
    ASSERT_EQ(error_of_import(), "done");
    EXPECT_TRUE(is_equal_to_r());
    EXPECT_TRUE(fs::is_empty(place / "scratch"));
}

TEST_F(ImportTest, I22_RecordedDiskIsNotTouchedAgain) {
    serve("r.raw", {.etag = "\"1\""});
    const auto first = import();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->completion.data_bytes, 6_MiB);
    EXPECT_EQ(first->completion.digest.size(), 22U);
    std::ofstream(disk()) << "the guest was here";
    const auto second = import();
    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(second->was_done_before);
    EXPECT_EQ(second->completion, first->completion);
    EXPECT_EQ(content(disk()), "the guest was here");
    EXPECT_EQ(server.count("GET"), 1);
}

TEST_F(ImportTest, WorkerEndsWithCodeAndWords) {
    serve("r.raw");
    job.state_dir = (place / "state").string();
    EXPECT_EQ(run_import(job), 0);
    EXPECT_EQ(content(job.termination_log), R"({"preallocationApplied":false,"message":"Import Complete"})");
    forget();
    job.endpoint = server.url("/none");
    EXPECT_EQ(run_import(job), 1);
    EXPECT_EQ(
        content(job.termination_log),
        "Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found"
    );
    serve("backed.qcow2");
    EXPECT_EQ(run_import(job), 2);
    EXPECT_TRUE(
        content(job.termination_log)
            .starts_with("Unable to process data: the image is invalid because it has invalid backing file /etc/passwd")
    );
}

TEST_F(ImportTest, D77_ProgressGrowsAndLeavesTheLastStepToSuccess) {
    for (const char* name : {"r.raw", "r.qcow2", "r.qcow2.gz"}) {
        std::vector<double> said;
        serve(name);
        ASSERT_TRUE(import_disk(job, [&](double percent) { said.push_back(percent); }).has_value());
        ASSERT_FALSE(said.empty()) << name;
        EXPECT_TRUE(std::ranges::is_sorted(said)) << name;
        EXPECT_LE(said.back(), 100.0);
        forget();
    }
}

TEST(ReadJob, FromTheEnvironment) {
    const std::map<std::string, std::string> set{
        {"IMPORTER_SOURCE",         "http"      },
        {"IMPORTER_ENDPOINT",       "http://a/b"},
        {"IMPORTER_IMAGE_SIZE",     "1Gi"       },
        {"FILESYSTEM_OVERHEAD",     "0.2"       },
        {"IMPORTER_EXTRA_HEADER_0", "A: 1"      },
        {"IMPORTER_EXTRA_HEADER_1", "B: 2\n"    },
        {"PREALLOCATION",           "true"      },
        {"BERTH_CLAIM_UID",         "c1"        },
    };
    const auto job = read_job([&](const std::string& name) {
        const auto it = set.find(name);
        return it == set.end() ? std::nullopt : std::optional<std::string>(it->second);
    });
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(job->image_size, 1_GiB);
    EXPECT_EQ(job->overhead.thousandths, 200);
    EXPECT_EQ(job->headers, (std::vector<std::string>{"A: 1", "B: 2"}));
    EXPECT_TRUE(job->preallocates);
}

}  // namespace
}  // namespace berth::image
