// Imports that somebody means ill with, or that are killed at any point.
#include <sys/wait.h>

#include <csignal>
#include <random>

#include "image/import_testing.hpp"
#include "image/worker.hpp"

extern char** environ;

namespace berth::image {
namespace {

using namespace testing;

// Run with this variable the program is a worker, so that there is one to kill.
constexpr const char* kAsWorker = "BERTH_TEST_AS_WORKER";
const bool kIsTest = [] {
    if (std::getenv(kAsWorker) == nullptr) return true;
    const char* const argv[] = {"worker", "import"};
    ::_exit(worker_main(2, argv));
}();

struct AttackTest : ImportTest {
    [[nodiscard]] pid_t start_worker() const {
        std::vector<std::string> env{
            std::string(kAsWorker) + "=1",
            "IMPORTER_SOURCE=http",
            "IMPORTER_ENDPOINT=" + job.endpoint,
            "IMPORTER_IMAGE_SIZE=16Mi",
            "BERTH_CLAIM_UID=c1",
            "BERTH_DISK_FILE=" + job.disk_file,
            "BERTH_BLOCK_DEVICE=" + job.block_device,
            "BERTH_SPOOL_DIR=" + job.spool_dir,
            "BERTH_STATE_DIR=" + job.state_dir,
            "BERTH_RECORD_DIR=" + job.record_dir,
            "BERTH_TERMINATION_LOG=" + job.termination_log,
        };
        for (char** one = environ; *one != nullptr; ++one) env.emplace_back(*one);
        std::vector<char*> pointers;
        for (std::string& one : env) pointers.push_back(one.data());
        pointers.push_back(nullptr);
        char name[] = "worker";
        char* const argv[] = {name, nullptr};
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::execve("/proc/self/exe", argv, pointers.data());
            ::_exit(127);
        }
        return pid;
    }
    static int wait_for(pid_t pid) {
        int status = 0;
        ::waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
};

// The moment is drawn from the time that a whole run takes, so that kills fall in every part of it.
TEST_F(AttackTest, D22_KilledAtAnyPointTheNextRunSucceeds) {
    ASSERT_TRUE(kIsTest);
    std::mt19937 random(5);
    for (const char* name : {"r.raw", "r.raw.gz", "r.qcow2", "r.qcow2.xz"}) {
        serve(name, {.etag = "\"1\""});
        const auto begin = std::chrono::steady_clock::now();
        ASSERT_EQ(wait_for(start_worker()), 0) << content(job.termination_log);
        const auto whole =
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
        forget();
        int killed = 0;
        for (int i = 0; i < 6; ++i) {
            SCOPED_TRACE(std::string(name) + " kill " + std::to_string(i));
            const pid_t pid = start_worker();
            ::usleep(static_cast<useconds_t>(random() % static_cast<unsigned>(whole.count())));
            ::kill(pid, SIGKILL);
            const int code = wait_for(pid);
            killed += code == 128 + SIGKILL ? 1 : 0;
            // What a kill leaves is never taken for a finished disk.
            const bool is_recorded = fs::exists(place / "record" / "c1.json");
            if (is_recorded) {
                EXPECT_TRUE(is_equal_to_r());
            }
            ASSERT_EQ(wait_for(start_worker()), 0) << content(job.termination_log);
            EXPECT_TRUE(is_equal_to_r());
            EXPECT_FALSE(fs::exists(place / "scratch" / "berth-spool"));
            forget();
        }
        EXPECT_GT(killed, 0) << name << ": no kill hit";
    }
}

TEST_F(AttackTest, D22_ALengthThatIsALie) {
    struct Row {
        const char* about;
        std::int64_t head, get;
        const char* expected;
    };
    const Row rows[] = {
        {"more than comes",              0,       1 << 20,  "transient: the connection closed early: "                        },
        {"HEAD says more than GET",      1 << 20, 0,        "transient: the server announced 13631488 bytes and sent 12582912"},
        {"HEAD says less than GET",      -512,    0,        "transient: the server announced 12582400 bytes and sent 12582912"},
        {"GET stops before what it has", 0,       -4 << 20, "transient: the server announced 12582912 bytes and sent 8388608"
        },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.about);
        serve("r.raw", {.lies_on_head = row.head, .lies_on_get = row.get});
        const std::string got = error_of_import();
        EXPECT_TRUE(got.starts_with(row.expected)) << got;
        expect_nothing_left();
    }
}

TEST_F(AttackTest, D08_CertificatesThatDoNotFit) {
    inputs().shell(
        "mkdir -p wrong; test -f wrong/tls.crt || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-keyout wrong/tls.key -out wrong/tls.crt -days 2 -subj /CN=other -addext subjectAltName=DNS:other 2>/dev/null"
    );
    Server secure(inputs().path("wrong/tls.crt"), inputs().path("wrong/tls.key"));
    for (const char* name : {"r.raw", "r.qcow2"}) {
        secure.put("/x", {.file = inputs().path(name)});
        job.endpoint = secure.url("/x");
        job.cert_dir = inputs().path("wrong");  // the issuer is known, the name is another's
        const std::string refused = error_of_import();
        EXPECT_TRUE(
            refused.starts_with("permanent: Unable to connect to http data source: the server's certificate is "
                                "not trusted: ")
        ) << refused;
        expect_nothing_left();
    }
    std::ofstream(place / "none.pem") << "not a certificate";
    fs::create_directories(place / "broken");
    fs::rename(place / "none.pem", place / "broken" / "ca.pem");
    job.cert_dir = (place / "broken").string();
    EXPECT_TRUE(error_of_import().starts_with("permanent: ")) << error_of_import();
}

TEST_F(AttackTest, P80_NoWayDownFromHttps) {
    Server secure(inputs().path("tls.crt"), inputs().path("tls.key"));
    serve("r.raw");
    secure.put("/down", {.status = 302, .location = server.url("/r.raw")});
    job.cert_dir = inputs().path("certs");
    for (const std::string& to :
         {server.url("/r.raw"),
          std::string("file:///etc/passwd"),
          std::string("ftp://127.0.0.1/x"),
          std::string("gopher://127.0.0.1/x")}) {
        secure.put("/down", {.status = 302, .location = to});
        job.endpoint = secure.url("/down");
        const std::string refused = error_of_import();
        EXPECT_TRUE(refused.starts_with("permanent: Unable to connect to http data source: the server redirects "))
            << refused;
        expect_nothing_left();
    }
    EXPECT_EQ(server.count("GET") + server.count("HEAD"), 0) << "the plain server was never asked";
}

// Whatever the bytes are: an end in bounded time, nothing left behind when it fails, nothing larger than the volume
// and nothing of this machine when it succeeds.
TEST_F(AttackTest, D21_MutatedAndCutImages) {
    const std::string secret = content("/etc/passwd").substr(0, 24);
    std::mt19937 random(11);
    for (const char* name :
         {"r.qcow2", "r.vmdk", "r.vdi", "r.vpc", "r.vhdx", "r.raw.gz", "r.raw.xz", "r.raw.zst", "r.qcow2.gz"}) {
        const std::string good = content(inputs().path(name));
        for (int i = 0; i < 10; ++i) {
            std::string bytes = good;
            const bool is_cut = i >= 8;
            if (is_cut) bytes.resize(random() % bytes.size());
            // Half of the changes in the first bytes, where the sizes and offsets are.
            for (int k = 0; !is_cut && k < 1 + i; ++k) {
                bytes[random() % (i % 2 == 0 ? std::min<std::size_t>(bytes.size(), 512) : bytes.size())] =
                    static_cast<char>(random());
            }
            std::ofstream(place / "mutant", std::ios::binary) << bytes;
            server.put("/mutant", {.file = (place / "mutant").string(), .takes_ranges = i % 3 != 0});
            job.endpoint = server.url("/mutant");
            SCOPED_TRACE(std::string(name) + " mutant " + std::to_string(i));
            const std::string got = error_of_import();
            if (got != "done") {
                expect_nothing_left();
                continue;
            }
            EXPECT_LE(fs::file_size(disk()), static_cast<std::uintmax_t>((16_MiB).value));
            EXPECT_EQ(content(disk()).find(secret), std::string::npos);
            forget();
        }
    }
}

// Fields of a header, one at a time, with the values that break readers.
TEST_F(AttackTest, D21_HeadersOfQcow2) {
    const std::string good = content(inputs().path("r.qcow2"));
    const std::size_t fields[] = {4, 8, 16, 20, 24, 32, 36, 40, 48, 56, 60, 64, 72, 80, 88, 96, 100, 104};
    for (const std::size_t field : fields) {
        for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
            std::string bytes = good;
            for (std::size_t k = 0; k < 4; ++k) bytes[field + k] = value;
            std::ofstream(place / "mutant", std::ios::binary) << bytes;
            server.put("/mutant", {.file = (place / "mutant").string(), .takes_ranges = value != '\x7f'});
            job.endpoint = server.url("/mutant");
            SCOPED_TRACE("field " + std::to_string(field) + " value " + std::to_string(static_cast<int>(value)));
            if (error_of_import() != "done") {
                expect_nothing_left();
            } else {
                EXPECT_LE(fs::file_size(disk()), static_cast<std::uintmax_t>((16_MiB).value));
                forget();
            }
        }
    }
}

}  // namespace
}  // namespace berth::image
