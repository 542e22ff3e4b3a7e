// The log on disk: one SQLite file in WAL mode, one row for the current content of each object.
//
// Rows are keyed by revision, so a change appends at the end of one b-tree and removes the row it replaces: no other
// index is kept, and the file holds what is current, not what has been. The highest revision is stored in the same
// transaction, because a deletion leaves no row that would remember it.
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "store/store.hpp"

namespace berth::store {
namespace {

constexpr int kApplicationId = 0x62727468;  // "brth": tells our file from any other SQLite file

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

std::unexpected<Error> failed(sqlite3* database, const std::string& what) {
    const std::string why = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
    return fail(ErrorKind::io, what + ": " + why);
}

Result<void> run(sqlite3* database, const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed(database, sql);
    return {};
}

Result<Statement> prepare(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
        return failed(database, sql);
    }
    return Statement(statement);
}

Result<std::int64_t> number(sqlite3* database, const char* sql) {
    TRY(const Statement statement, prepare(database, sql));
    if (sqlite3_step(statement.get()) != SQLITE_ROW) return failed(database, sql);
    return sqlite3_column_int64(statement.get(), 0);
}

void bind_text(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

std::string text_of(sqlite3_stmt* statement, int column) {
    const unsigned char* text = sqlite3_column_text(statement, column);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

class SqliteLog final : public Log {
public:
    explicit SqliteLog(Database database) : database_(std::move(database)) {}

    Result<void> prepare_all() {
        TRY(insert_,
            prepare(database_.get(), "INSERT INTO log (rev, resource, ns, name, content) VALUES (?, ?, ?, ?, ?)"));
        TRY(erase_, prepare(database_.get(), "DELETE FROM log WHERE rev = ?"));
        TRY(raise_, prepare(database_.get(), "UPDATE meta SET highest = ?"));
        return {};
    }

    Result<Revision> load(const std::function<void(Entry)>& each) override {
        TRY(const Statement rows,
            prepare(database_.get(), "SELECT rev, resource, ns, name, content FROM log ORDER BY rev"));
        int step = SQLITE_ROW;
        while ((step = sqlite3_step(rows.get())) == SQLITE_ROW) {
            Entry entry;
            entry.revision = sqlite3_column_int64(rows.get(), 0);
            entry.key = {text_of(rows.get(), 1), text_of(rows.get(), 2), text_of(rows.get(), 3)};
            entry.content = text_of(rows.get(), 4);
            each(std::move(entry));
        }
        if (step != SQLITE_DONE) return failed(database_.get(), "read the log");
        return number(database_.get(), "SELECT highest FROM meta");
    }

    Result<void> append(const std::vector<Entry>& entries) override {
        TRY_DO(run(database_.get(), "BEGIN IMMEDIATE"));
        Result<void> done = write(entries);
        if (done) done = run(database_.get(), "COMMIT");
        // After some errors SQLite has rolled back by itself: then there is nothing left to roll back.
        if (!done && sqlite3_get_autocommit(database_.get()) == 0)
            sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        return done;
    }

private:
    Result<void> write(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            if (entry.replaces != 0) {
                sqlite3_bind_int64(erase_.get(), 1, entry.replaces);
                TRY_DO(step(erase_, "drop the row of " + entry.key.name));
            }
            if (!entry.content) continue;
            sqlite3_bind_int64(insert_.get(), 1, entry.revision);
            bind_text(insert_.get(), 2, entry.key.resource);
            bind_text(insert_.get(), 3, entry.key.ns);
            bind_text(insert_.get(), 4, entry.key.name);
            bind_text(insert_.get(), 5, *entry.content);
            TRY_DO(step(insert_, "add the row of " + entry.key.name));
        }
        sqlite3_bind_int64(raise_.get(), 1, entries.back().revision);
        return step(raise_, "raise the revision");
    }

    Result<void> step(const Statement& statement, const std::string& what) {
        const int code = sqlite3_step(statement.get());
        Result<void> done;
        if (code != SQLITE_DONE) done = failed(database_.get(), what);
        sqlite3_reset(statement.get());
        sqlite3_clear_bindings(statement.get());
        return done;
    }

    Database database_;  // outlives its statements
    Statement insert_;
    Statement erase_;
    Statement raise_;
};

// A file of another program is refused, never changed.
Result<void> claim_file(sqlite3* database, const std::string& path) {
    TRY(const std::int64_t id, number(database, "PRAGMA application_id"));
    TRY(const std::int64_t tables, number(database, "SELECT count(*) FROM sqlite_master"));
    if (id == kApplicationId) return {};
    if (id != 0 || tables != 0) {
        return fail(ErrorKind::io, "\"" + path + "\" is a database of another program; use another data directory");
    }
    TRY_DO(run(database, "BEGIN"));
    TRY_DO(
        run(database,
            "CREATE TABLE log (rev INTEGER PRIMARY KEY, resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, "
            "content TEXT NOT NULL)")
    );
    TRY_DO(run(database, "CREATE TABLE meta (highest INTEGER NOT NULL)"));
    TRY_DO(run(database, "INSERT INTO meta VALUES (0)"));
    const std::string pragma = "PRAGMA application_id = " + std::to_string(kApplicationId);
    TRY_DO(run(database, pragma.c_str()));
    return run(database, "COMMIT");
}

}  // namespace

Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path) {
    // Secrets are in it: the file is the owner's alone from the first moment, and SQLite's others get its mode.
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (made < 0) return fail(ErrorKind::io, "open \"" + path + "\": " + std::string(std::strerror(errno)));
    ::close(made);
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr
    );
    Database database(opened);
    if (code != SQLITE_OK) return failed(database.get(), "open \"" + path + "\"");
    // EXCLUSIVE: a second process cannot write behind our back, and no shared memory file is needed.
    // FULL: an acknowledged write survives a power cut.
    for (const char* pragma : {
             "PRAGMA locking_mode = EXCLUSIVE",
             "PRAGMA journal_mode = WAL",
             "PRAGMA synchronous = FULL",
             "PRAGMA journal_size_limit = 16777216",
         }) {
        if (auto set = run(database.get(), pragma); !set) {
            return within("open \"" + path + "\" (is another process using it?)", set.error());
        }
    }
    TRY_DO(claim_file(database.get(), path));
    auto log = std::make_unique<SqliteLog>(std::move(database));
    TRY_DO(log->prepare_all());
    return log;
}

}  // namespace berth::store
