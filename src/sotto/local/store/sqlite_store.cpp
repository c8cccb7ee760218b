#include "sotto/local/store/sqlite_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "sotto/core/error.hpp"

namespace sotto::local {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

}  // namespace

struct SqliteStore::Handle {
  sqlite3* db = nullptr;
  Statement find, keep;
  std::string path;

  ~Handle() {
    find.reset();
    keep.reset();
    sqlite3_close(db);
  }
  [[noreturn]] void fail() const {
    throw StorageError(fmt::format("the client's store '{}': {}", path,
                                   db != nullptr ? sqlite3_errmsg(db) : "cannot be opened"));
  }
  void run(const char* sql) const {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  Statement prepare(const char* sql) const {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &made, nullptr) != SQLITE_OK) fail();
    return Statement(made);
  }
  void bind(sqlite3_stmt* s, int i, std::string_view bytes) const {
    if (sqlite3_bind_blob64(s, i, bytes.data(), bytes.size(), SQLITE_TRANSIENT) != SQLITE_OK)
      fail();
  }
};

SqliteStore::SqliteStore(const std::string& path) : handle_(std::make_unique<Handle>()) {
  Handle& h = *handle_;
  h.path = path;
  const mode_t old = ::umask(077);  // permanent answers are the client's own
  const int code =
      sqlite3_open_v2(path.c_str(), &h.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  ::umask(old);
  if (code != SQLITE_OK) h.fail();
  sqlite3_busy_timeout(h.db, 30'000);
  h.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
  h.run(
      "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
  h.find = h.prepare("SELECT value FROM kept WHERE key = ?1");
  h.keep = h.prepare("INSERT INTO kept VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2");
}

SqliteStore::~SqliteStore() = default;

std::optional<std::string> SqliteStore::find(std::string_view key) {
  sqlite3_stmt* s = handle_->find.get();
  handle_->bind(s, 1, key);
  std::optional<std::string> result;
  const int code = sqlite3_step(s);
  if (code == SQLITE_ROW) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(s, 0));
    result.emplace(bytes == nullptr ? "" : bytes,
                   static_cast<std::size_t>(sqlite3_column_bytes(s, 0)));
  }
  sqlite3_reset(s);
  if (code != SQLITE_ROW && code != SQLITE_DONE) handle_->fail();
  return result;
}

void SqliteStore::keep(std::string_view key, std::string_view value) {
  sqlite3_stmt* s = handle_->keep.get();
  handle_->bind(s, 1, key);
  handle_->bind(s, 2, value);
  const int code = sqlite3_step(s);
  const int changed = sqlite3_changes(handle_->db);
  sqlite3_reset(s);
  if (code != SQLITE_DONE || changed != 1) handle_->fail();
}

void SqliteStore::begin() { handle_->run("BEGIN IMMEDIATE"); }
void SqliteStore::commit() { handle_->run("COMMIT"); }

}  // namespace sotto::local
