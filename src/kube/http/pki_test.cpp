#include "kube/http/pki.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "kube/http/files.hpp"
#include "kube/http/kubeconfig.hpp"

namespace berth::kube::http {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;

const Timestamp kNow = Timestamp(std::chrono::sys_days(std::chrono::year(2026) / 3 / 1));

struct InDirectory : testing::Test {
    fs::path directory;

    InDirectory() {
        std::string name = (fs::temp_directory_path() / "berth-http-test-XXXXXX").string();
        directory = ::mkdtemp(name.data());
    }
    ~InDirectory() override { fs::remove_all(directory); }
    Pki pki(Timestamp now, std::vector<std::string> names = {}) const {
        auto made = load_or_create_pki(directory / "pki", std::move(names), now);
        EXPECT_TRUE(made.has_value()) << made.error().message;
        return made.value_or(Pki{});
    }
};

struct PkiTest : InDirectory {};

TEST_F(PkiTest, KeptUntilThirtyDaysBeforeTheEnd) {
    const Pki first = pki(kNow);
    const Pki same = pki(kNow + days(334));
    EXPECT_EQ(first.server, same.server);
    EXPECT_EQ(first.admin, same.admin);
    const Pki renewed = pki(kNow + days(336));
    EXPECT_EQ(first.authority_pem, renewed.authority_pem);
    EXPECT_NE(first.server, renewed.server);
    EXPECT_NE(first.admin, renewed.admin);
    const Pki decade = pki(kNow + days(3630));
    EXPECT_NE(first.authority_pem, decade.authority_pem);
}

TEST_F(PkiTest, MadeAnewWhenItDoesNotFit) {
    const Pki first = pki(kNow);
    const Pki named = pki(kNow, {"10.0.0.7", "box.example"});
    EXPECT_NE(first.server, named.server);
    EXPECT_EQ(first.admin, named.admin);
    EXPECT_EQ(pki(kNow, {"box.example"}).server, named.server) << "more names than asked for do no harm";

    EXPECT_TRUE(write_file(directory / "pki/admin.key", first.server.key_pem).has_value());
    EXPECT_NE(pki(kNow).admin, first.admin);
    EXPECT_TRUE(write_file(directory / "pki/ca.crt", "nonsense").has_value());
    const Pki other = pki(kNow);
    EXPECT_NE(other.authority_pem, first.authority_pem);
    EXPECT_NE(other.server, named.server) << "the old authority vouched for it";
}

TEST_F(PkiTest, OnlyItsOwnerReadsIt) {
    pki(kNow);
    EXPECT_EQ(fs::status(directory / "pki").permissions(), fs::perms::owner_all);
    for (const auto& file : fs::directory_iterator(directory / "pki")) {
        EXPECT_EQ(file.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << file.path();
    }
}

TEST_F(PkiTest, NameThatIsNoneIsRefused) {
    for (const char* name : {"a,DNS:b", "a b", "x:y", ""}) {
        const auto pair = issue(make_authority(kNow), {.common_name = "s", .names = {name}}, kNow);
        EXPECT_FALSE(pair.has_value()) << name;
    }
}

TEST_F(PkiTest, DirectoryThatCannotBeMade) {
    const auto made = load_or_create_pki("/proc/nowhere", {}, kNow);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, ErrorKind::io);
}

struct KubeconfigTest : InDirectory {
    fs::path write(const std::string& name, const std::string& text) const {
        EXPECT_TRUE(write_file(directory / name, text).has_value());
        return directory / name;
    }
};

TEST_F(KubeconfigTest, RoundTrip) {
    ClientConfig config{
        .server = "https://127.0.0.1:6443", .ca_pem = "CA", .certificate_pem = "CERT\n", .key_pem = "KEY"
    };
    config.ns = "work";
    config.token = "t";
    const fs::path path = directory / "kubeconfig";
    ASSERT_TRUE(write_kubeconfig(path, "berth", config).has_value());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    const auto read = find_client_config({.path = path});
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->server, config.server);
    EXPECT_EQ(read->ca_pem, "CA");
    EXPECT_EQ(read->certificate_pem, "CERT\n");
    EXPECT_EQ(read->key_pem, "KEY");
    EXPECT_EQ(read->token, "t");
    EXPECT_EQ(read->ns, "work");
    EXPECT_TRUE(read->verifies_server);
}

constexpr const char* kFirst = R"(
clusters: [{name: c, cluster: {server: "https://a:1", certificate-authority: sub/ca.pem, tls-server-name: n}}]
contexts:
- {name: one, context: {cluster: c, user: u}}
- {name: two, context: {cluster: d, user: v, namespace: ns2}}
- {name: bad, context: {cluster: gone, user: u}}
- {name: plugin, context: {cluster: c, user: p}}
users:
- {name: u, user: {tokenFile: tok}}
- {name: p, user: {exec: {command: aws}}}
)";
constexpr const char* kSecond = R"(
current-context: one
clusters:
- {name: c, cluster: {server: "https://later:1"}}
- {name: d, cluster: {server: "https://d:2", insecure-skip-tls-verify: true}}
users: [{name: v, user: {token: tt}}]
)";

TEST_F(KubeconfigTest, ListsAreMergedAndTheFirstWins) {
    fs::create_directory(directory / "sub");
    write("sub/ca.pem", "CA");
    const std::string list =
        write("a", kFirst).string() + ":" + (directory / "missing").string() + "::" + write("b", kSecond).string();
    const auto one = find_client_config({.variable = list});
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_EQ(one->server, "https://a:1");
    EXPECT_EQ(one->ca_pem, "CA");
    EXPECT_EQ(one->tls_server_name, "n");
    EXPECT_EQ(one->token_file, directory / "tok");
    EXPECT_EQ(one->ns, "default");
    const auto two = find_client_config({.context = "two", .variable = list});
    ASSERT_TRUE(two.has_value()) << two.error().message;
    EXPECT_EQ(two->server, "https://d:2");
    EXPECT_EQ(two->token, "tt");
    EXPECT_EQ(two->ns, "ns2");
    EXPECT_FALSE(two->verifies_server);
}

TEST_F(KubeconfigTest, ErrorsSayWhatToDo) {
    struct Row {
        ConfigSearch search;
        ErrorKind kind;
        const char* message;  // a part of it
    };
    const fs::path first = write("a", kFirst);
    const Row rows[] = {
        {{.path = directory / "none"},                                   ErrorKind::not_found, "No such file"               },
        {{.path = write("broken", "a: [")},                              ErrorKind::invalid,   "must be a kubeconfig"       },
        {{.path = write("list", "[1]")},                                 ErrorKind::invalid,   "not a kubeconfig"           },
        {{.path = write("odd", "current-context: x\ncontexts: {a: b}")}, ErrorKind::invalid,   "kubeconfig"                 },
        {{.path = first},                                                ErrorKind::invalid,   "choose one with --context"  },
        {{.path = first, .context = "three"},                            ErrorKind::invalid,   "no context \"three\""       },
        {{.path = first, .context = "bad"},                              ErrorKind::invalid,   "no cluster \"gone\""        },
        {{.path = first, .context = "one"},                              ErrorKind::not_found, "certificate-authority: read"},
        {{.fallbacks = {directory / "none"}},                            ErrorKind::not_found, "give --kubeconfig"          },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.message);
        const auto got = find_client_config(row.search);
        ASSERT_FALSE(got.has_value());
        EXPECT_EQ(to_string(got.error().kind), to_string(row.kind));
        EXPECT_TRUE(got.error().message.contains(row.message)) << got.error().message;
    }
    fs::create_directory(directory / "sub");
    write("sub/ca.pem", "CA");
    const auto plugin = find_client_config({.path = first, .context = "plugin"});
    ASSERT_FALSE(plugin.has_value());
    EXPECT_TRUE(plugin.error().message.contains("use a client certificate")) << plugin.error().message;
}

}  // namespace
}  // namespace berth::kube::http
