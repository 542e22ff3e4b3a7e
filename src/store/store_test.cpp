#include "store/store.hpp"

#include <filesystem>

#include <unistd.h>
#include <boost/asio/io_context.hpp>

#include "base/async/system/system.hpp"

namespace berth::store {
namespace {

class Inline final : public Blocking {
public:
    Task<void> run(std::function<void()> work) override {
        work();
        co_return;
    }
};

// A log whose disk can fill up; it counts how often it was synced.
class FlakyLog final : public Log {
public:
    Result<Revision> load(const std::function<void(Entry)>& each) override { return inner->load(each); }
    Result<void> append(const std::vector<Entry>& entries) override {
        ++appends;
        largest = std::max(largest, entries.size());
        if (is_full) return fail(ErrorKind::io, "no space left on device");
        return inner->append(entries);
    }
    std::unique_ptr<Log> inner = memory_log();
    bool is_full = false;
    int appends = 0;
    std::size_t largest = 0;
};

ObjectKey key(const std::string& name, const std::string& ns = "t") { return {"configmaps", ns, name}; }

json::Value doc(const std::string& name, const std::string& data = "1") {
    json::Value out;
    json::set(out, "/metadata/name", json::Value(name));
    json::set(out, "/data/a", json::Value(data));
    return out;
}

class StoreTest : public testing::Test {
protected:
    void run(Task<void> task) {
        TaskGroup group(context.get_executor());
        group.spawn("test", std::move(task));
        context.restart();
        context.run();
    }
    void open(Log& log, Limits limits = {}) {
        store.reset();
        store = std::make_unique<Store>(context.get_executor(), blocking, log, limits);
        ASSERT_TRUE(store->load());
    }
    Task<Result<RecordPtr>> put(ObjectKey at, std::optional<Revision> expected, std::string data = "1") {
        Write write{at, expected, doc(at.name, data)};
        co_return co_await store->write(std::move(write));
    }
    Task<Result<RecordPtr>> drop(ObjectKey at, Revision expected) {
        Write write{at, expected, std::nullopt};
        co_return co_await store->write(std::move(write));
    }
    std::string names() {
        std::string out;
        for (const auto& record : store->list("configmaps", "")) out += record->key.ns + "/" + record->key.name + " ";
        return out;
    }

    boost::asio::io_context context;
    Inline blocking;
    std::unique_ptr<Store> store;
};

TEST_F(StoreTest, ChecksAgainstTheNewestState) {
    FlakyLog log;
    open(log);
    std::string seen;
    const auto flow = [&]() -> Task<void> {
        Result<RecordPtr> got;
        const auto note = [&] {
            seen += got ? (*got ? std::to_string((*got)->revision) : "none")
                        : std::string(to_string(got.error().kind)) + ",";
            seen += ' ';
        };
        got = co_await put(key("a"), std::nullopt);
        note();
        got = co_await put(key("a"), std::nullopt);
        note();
        got = co_await put(key("a"), 7);
        note();
        got = co_await put(key("a"), 1, "2");
        note();
        got = co_await put(key("a"), 0, "3");
        note();
        got = co_await put(key("b"), 0);
        note();
        got = co_await put(key("b"), 3);
        note();
        got = co_await drop(key("a"), 2);
        note();
        got = co_await drop(key("a"), 3);
        note();
        got = co_await drop(key("a"), 0);
        note();
        got = co_await drop(key("a"), 4);
        note();
    };
    run(flow());
    EXPECT_EQ(seen, "1 already exists, conflict, 2 3 not found, not found, conflict, 4 none not found, ");
    EXPECT_EQ(store->object_count(), 0u);
    EXPECT_EQ(store->revision(), 4);
}

TEST_F(StoreTest, TheDocumentCarriesItsRevision) {
    FlakyLog log;
    open(log);
    const auto flow = [&]() -> Task<void> {
        const auto made = co_await put(key("a"), std::nullopt);
        EXPECT_EQ(json::text_at((*made)->document, "/metadata/resourceVersion"), "1");
        const auto gone = co_await drop(key("a"), 1);
        EXPECT_EQ(json::text_at((*gone)->document, "/metadata/resourceVersion"), "2");
        EXPECT_EQ(json::text_at((*gone)->document, "/data/a"), "1");
    };
    run(flow());
}

TEST_F(StoreTest, WritesThatWaitShareOneSync) {
    FlakyLog log;
    open(log);
    TaskGroup group(context.get_executor());
    int done = 0;
    Revision last = 0;
    const auto writer = [&](int i) -> Task<void> {
        const auto made = co_await put(key("n" + std::to_string(i)), std::nullopt);
        EXPECT_GT((*made)->revision, last);  // acknowledged in order of revision
        last = (*made)->revision;
        ++done;
    };
    for (int i = 0; i < 64; ++i) group.spawn("writer", writer(i));
    context.run();
    EXPECT_EQ(done, 64);
    EXPECT_LE(log.appends, 2);
    EXPECT_GE(log.largest, 63u);
}

TEST_F(StoreTest, NothingIsVisibleBeforeItIsDurable) {
    FlakyLog log;
    ThreadPool pool(1);
    Store slow(context.get_executor(), pool, log);
    ASSERT_TRUE(slow.load());
    TaskGroup group(context.get_executor());
    const auto first = [&]() -> Task<void> {
        Write write{key("a"), std::nullopt, doc("a")};
        const auto made = co_await slow.write(std::move(write));
        EXPECT_TRUE(made);
        EXPECT_NE(slow.get(key("a")), nullptr);
    };
    const auto second = [&]() -> Task<void> {
        // The first write is still on its way: not visible, but decided.
        EXPECT_EQ(slow.get(key("a")), nullptr);
        EXPECT_EQ(slow.revision(), 0);
        Write write{key("a"), std::nullopt, doc("a")};
        const auto refused = co_await slow.write(std::move(write));
        EXPECT_EQ(refused.error().kind, ErrorKind::already_exists);
        Write next{key("a"), 1, doc("a", "2")};
        const auto changed = co_await slow.write(std::move(next));
        EXPECT_EQ((*changed)->revision, 2);
    };
    group.spawn("first", first());
    group.spawn("second", second());
    context.run();
    EXPECT_EQ(json::text_at(slow.get(key("a"))->document, "/data/a"), "2");
}

TEST_F(StoreTest, AFullDiskFailsEverythingDecidedOnTopOfIt) {
    FlakyLog log;
    Limits limits;
    limits.batch_entries = 2;
    open(log, limits);
    std::vector<std::string> seen;
    TaskGroup group(context.get_executor());
    const auto writer = [&](std::string name, std::optional<Revision> expected, std::string data) -> Task<void> {
        const auto got = co_await put(key(name), expected, data);
        seen.push_back(name + data + (got ? " ok" : " " + std::string(to_string(got.error().kind))));
    };
    run(writer("a", std::nullopt, "1"));
    log.is_full = true;
    group.spawn("w", writer("a", 1, "2"));
    group.spawn("w", writer("b", std::nullopt, "1"));
    group.spawn("w", writer("a", 2, "3"));  // on top of the first, in the next batch
    context.restart();
    context.run();
    EXPECT_EQ(seen, (std::vector<std::string>{"a1 ok", "a2 io", "b1 io", "a3 io"}));
    EXPECT_EQ(store->revision(), 1);
    EXPECT_EQ(json::text_at(store->get(key("a"))->document, "/data/a"), "1");

    log.is_full = false;
    run(writer("a", 1, "4"));
    EXPECT_EQ(seen.back(), "a4 ok");
    EXPECT_EQ(store->revision(), 5) << "revisions of failed writes are not used again";
}

TEST_F(StoreTest, WatchReplaysAndFollowsInOrder) {
    FlakyLog log;
    open(log);
    std::string seen;
    const auto reader = [&]() -> Task<void> {
        auto watcher = store->watch("configmaps", "t", 1);
        while (seen.find("5D") == std::string::npos) {
            const auto events = co_await (*watcher)->next(2);
            if (!events) break;
            for (const Event& event : *events) {
                seen += std::to_string(event.revision) + "AMD"[static_cast<int>(event.change)] + " ";
                EXPECT_EQ(
                    json::text_at(event.now->document, "/metadata/resourceVersion"), std::to_string(event.revision)
                );
            }
        }
        EXPECT_EQ((*watcher)->seen(), store->revision());
    };
    const auto flow = [&]() -> Task<void> {
        co_await put(key("a"), std::nullopt);
        co_await put(key("b"), std::nullopt);
        co_await put(key("b"), 2);
        TaskGroup group(context.get_executor());
        group.spawn("reader", reader());
        co_await put(key("x", "other"), std::nullopt);
        co_await drop(key("b"), 3);
        co_await group.join();
    };
    run(flow());
    EXPECT_EQ(seen, "2A 3M 5D ");
}

TEST_F(StoreTest, HistoryIsBoundedAndSaysSo) {
    FlakyLog log;
    Limits limits;
    limits.history_events = 3;
    open(log, limits);
    const auto flow = [&]() -> Task<void> {
        for (int i = 0; i < 6; ++i) co_await put(key("n" + std::to_string(i)), std::nullopt);
        Write other{
            {"pods", "t", "p"},
            std::nullopt, doc("p")
        };
        co_await store->write(std::move(other));
        EXPECT_EQ(store->oldest_revision(), 4);
        EXPECT_EQ(store->watch("configmaps", "", 3).error().kind, ErrorKind::gone);
        EXPECT_TRUE(store->watch("configmaps", "", 4));
        EXPECT_TRUE(store->watch("pods", "", 1)) << "nothing of pods was forgotten";
        EXPECT_EQ(store->list_at("configmaps", "", 3).error().kind, ErrorKind::gone);
        EXPECT_EQ(store->list_at("configmaps", "", 5)->size(), 5u);
        // A reader that falls behind is told so, and never sees a gap.
        auto watcher = store->watch("configmaps", "", 4);
        for (int i = 6; i < 12; ++i) co_await put(key("n" + std::to_string(i)), std::nullopt);
        const auto events = co_await (*watcher)->next(10);
        EXPECT_FALSE(events);
    };
    run(flow());
}

TEST_F(StoreTest, ListAtUndoesChanges) {
    FlakyLog log;
    open(log);
    const auto flow = [&]() -> Task<void> {
        co_await put(key("a"), std::nullopt, "1");
        co_await put(key("b"), std::nullopt, "1");
        co_await put(key("a"), 1, "2");
        co_await drop(key("b"), 2);
        co_await put(key("c"), std::nullopt, "1");
    };
    run(flow());
    const auto at = [&](Revision revision) {
        std::string out;
        for (const auto& record : *store->list_at("configmaps", "t", revision)) {
            out += record->key.name + std::string(json::text_at(record->document, "/data/a")) + " ";
        }
        return out;
    };
    EXPECT_EQ(at(0), "");
    EXPECT_EQ(at(2), "a1 b1 ");
    EXPECT_EQ(at(3), "a2 b1 ");
    EXPECT_EQ(at(4), "a2 ");
    EXPECT_EQ(at(5), "a2 c1 ");
}

TEST_F(StoreTest, CloseEndsWatchesAndRefusesWrites) {
    FlakyLog log;
    open(log);
    bool ended = false;
    const auto reader = [&]() -> Task<void> {
        auto watcher = store->watch("configmaps", "", 0);
        const auto events = co_await (*watcher)->next(1);
        ended = !events;
    };
    const auto flow = [&]() -> Task<void> {
        TaskGroup group(context.get_executor());
        group.spawn("reader", reader());
        co_await store->close();
        co_await group.join();
        const auto refused = co_await put(key("a"), std::nullopt);
        EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
    };
    run(flow());
    EXPECT_TRUE(ended);
}

class SqliteTest : public StoreTest {
protected:
    SqliteTest() : path_(std::filesystem::temp_directory_path() / ("berth-store-test-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~SqliteTest() override { std::filesystem::remove_all(path_); }
    std::string file() { return path_ / "state.db"; }

    std::filesystem::path path_;
};

TEST_F(SqliteTest, A78_RestartKeepsEveryAcknowledgedWriteAndNoRevisionIsReused) {
    const auto before = [&]() -> Task<void> {
        for (int i = 0; i < 20; ++i) co_await put(key("n" + std::to_string(i)), std::nullopt);
        co_await put(key("n3"), 4, "changed");
        co_await drop(key("n4"), 5);
        co_await drop(key("n5"), 6);
    };
    const auto after = [&]() -> Task<void> {
        const auto made = co_await put(key("new"), std::nullopt);
        EXPECT_EQ((*made)->revision, 24);
        EXPECT_EQ(store->watch("configmaps", "", 22).error().kind, ErrorKind::gone);
        EXPECT_TRUE(store->watch("configmaps", "", 23));
    };
    {
        auto log = open_sqlite_log(file());
        ASSERT_TRUE(log) << log.error().message;
        open(**log);
        run(before());
        store.reset();
    }
    auto log = open_sqlite_log(file());
    ASSERT_TRUE(log) << log.error().message;
    open(**log);
    EXPECT_EQ(store->revision(), 23) << "the last change was a deletion";
    EXPECT_EQ(store->object_count(), 18u);
    EXPECT_EQ(store->get(key("n3"))->revision, 21);
    EXPECT_EQ(json::text_at(store->get(key("n3"))->document, "/data/a"), "changed");
    EXPECT_EQ(store->get(key("n4")), nullptr);
    run(after());
    store.reset();
}

TEST_F(SqliteTest, TheFileHoldsWhatIsCurrentNotWhatHasBeen) {
    auto log = open_sqlite_log(file());
    ASSERT_TRUE(log);
    open(**log);
    const auto flow = [&]() -> Task<void> {
        co_await put(key("a"), std::nullopt);
        for (int i = 0; i < 300; ++i) co_await put(key("a"), 0, std::string(2000, 'x'));
    };
    run(flow());
    int rows = 0;
    EXPECT_EQ(*(*log)->load([&](const Log::Entry&) { ++rows; }), 301);
    EXPECT_EQ(rows, 1);
    store.reset();
    log->reset();
    EXPECT_LT(std::filesystem::file_size(file()), 200'000u);
}

TEST_F(SqliteTest, AForeignOrBusyFileIsRefused) {
    auto log = open_sqlite_log(file());
    ASSERT_TRUE(log);
    EXPECT_FALSE(open_sqlite_log(file())) << "two processes, one file";
    const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_EQ(std::filesystem::status(file()).permissions() & others, std::filesystem::perms::none);
    EXPECT_EQ(std::filesystem::status(file() + "-wal").permissions() & others, std::filesystem::perms::none);
    EXPECT_FALSE(open_sqlite_log(path_ / "no" / "such" / "folder"));
}

}  // namespace
}  // namespace berth::store
