// The embedded back end: one SQLite file, write-ahead log, synchronous = FULL.
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "sotto/core/error.hpp"
#include "sotto/ledger/backend/detail/sqlite_vfs.hpp"
#include "sotto/ledger/database.hpp"

namespace sotto::ledger {
namespace {

namespace fs = std::filesystem;

struct SqliteFreed {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};

class Sqlite final : public Database {
 public:
  Sqlite(const StoreLocation& location, OpenMode mode)
      : path_(location.place), head_file_(location.place) {
    std::error_code why;
    const bool fresh = !fs::exists(path_, why);
    if (why) throw StorageError(fmt::format("cannot look at '{}': {}", path_, why.message()));
    if (mode != OpenMode::create && fresh) {
      throw StorageError(fmt::format("there is no ledger '{}'", path_),
                         "sotto ledger create makes one");
    }
    // Before a file is made under this name.
    const bool known = mode == OpenMode::create && head_file_.read().has_value();
    if (fresh && known) refuse_new();
    open(mode, fresh, location);
    try {
      // A creation that was cut off may have left an empty file.
      if (mode == OpenMode::create &&
          query("PRAGMA page_count", {}).at(0).at(0) == Value(std::int64_t{0})) {
        if (known) refuse_new();
        prepare_new();
      }
      check_form();
    } catch (const StorageError&) {
      // A store on a medium that cannot be written can still be read when no log is left to be
      // applied.
      if (mode != OpenMode::read || fs::exists(path_ + "-wal")) throw;
      close();
      open(mode, fresh, location, true);
      check_form();
    }
  }

  std::vector<Values> query(const std::string& sql, const Values& values) override {
    sqlite3_stmt* s = statement(sql);
    struct Reset {
      sqlite3_stmt* s;
      ~Reset() { sqlite3_reset(s), sqlite3_clear_bindings(s); }
    } reset{s};
    for (std::size_t i = 0; i < values.size(); ++i) bind(s, static_cast<int>(i) + 1, values[i]);
    std::vector<Values> rows;
    int code = 0;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
      Values row;
      for (int c = 0; c < sqlite3_column_count(s); ++c) row.push_back(column(s, c));
      rows.push_back(std::move(row));
    }
    if (code != SQLITE_DONE) fail();
    return rows;
  }

  // The witness is read first: what it names was committed by then, so the transaction must see it.
  void begin_writing() override {
    kept_ = head_file_.read();
    run("BEGIN IMMEDIATE");
  }
  void begin_reading() override {
    kept_ = head_file_.read();
    run("BEGIN");
  }
  void commit() override { run("COMMIT"); }
  void rollback() noexcept override {
    if (sqlite3_get_autocommit(db_.get()) == 0)
      sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  bool has_table(const std::string& name) override {
    return !query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", {name}).empty();
  }

  void keep_head(const Head& head) override { head_file_.advance(head); }
  std::optional<Head> kept_head() const override { return kept_; }
  std::string witness() const override { return head_file_.path(); }

  void check_medium() override {
    // Another process may bring its log into the file while we read it; what is damaged is so the
    // next time, too.
    constexpr int kAttempts = 3;
    for (int attempt = 1;; ++attempt) {
      empty_log();
      try {
        check_pages(path_);
        break;
      } catch (const VerificationFailed&) {
        if (attempt == kAttempts) throw;
      }
    }
    for (const Values& row : query("PRAGMA integrity_check", {})) {
      const auto* text = std::get_if<std::string>(&row.at(0));
      if (text == nullptr || *text != "ok")
        throw VerificationFailed(fmt::format("'{}' is damaged: {}", path_, text ? *text : "?"));
    }
  }

 private:
  // Brings the log into the file, if this process may write, so that all of it can be looked at.
  void empty_log() {
    const int code =
        sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_READONLY) fail();
  }

  void open(OpenMode mode, bool fresh, const StoreLocation& location, bool immutable = false) {
    std::string name = path_;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (fresh) flags |= SQLITE_OPEN_CREATE;
    if (immutable) {
      std::string escaped;
      for (unsigned char c : fs::absolute(path_).string())
        escaped += isalnum(c) || c == '/' ? std::string(1, static_cast<char>(c))
                                          : fmt::format("%{:02x}", c);
      name = "file://" + escaped + "?immutable=1";
      flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    }
    const mode_t old = umask(077);  // who spent what is nobody else's business
    sqlite3* opened = nullptr;      // also after a failure, which it then names
    const int code = sqlite3_open_v2(name.c_str(), &opened, flags, sqlite_vfs());
    db_.reset(opened);
    umask(old);
    if (code != SQLITE_OK) {
      throw StorageError(fmt::format("cannot open the ledger '{}': {}", path_,
                                     db_ ? sqlite3_errmsg(db_.get()) : "out of memory"),
                         "check the path and its permissions");
    }
    if (mode != OpenMode::read && sqlite3_db_readonly(db_.get(), "main") == 1) {
      throw StorageError(fmt::format("'{}' is read-only", path_),
                         "charging needs to write the ledger");
    }
    sqlite3_extended_result_codes(db_.get(), 1);
    sqlite3_busy_timeout(db_.get(), static_cast<int>(location.patience.count()));
  }

  [[noreturn]] void refuse_new() const {
    throw StorageError(
        fmt::format("'{}' is gone, but '{}' says that it had entries", path_, head_file_.path()),
        "restore it from a copy; to start a new ledger under this name, remove that file");
  }

  void prepare_new() {
    int reserve = kPageDigest;
    sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve);
    run("PRAGMA page_size = 4096");
    run("PRAGMA journal_mode = WAL");
    const fs::path directory = fs::absolute(path_).parent_path();
    if (const int d = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); d >= 0) {
      ::fsync(d);
      ::close(d);
    }
  }

  void check_form() {
    run("PRAGMA synchronous = FULL");
    run("PRAGMA trusted_schema = OFF");
    (void)query("SELECT count(*) FROM sqlite_master", {});
    int reserve = -1;
    sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve);
    if (reserve != kPageDigest)
      throw StorageError(fmt::format("'{}' is a database, but not a ledger of sotto", path_));
  }

  sqlite3_stmt* statement(const std::string& sql) {
    Statement& kept = statements_[sql];
    if (!kept) {
      sqlite3_stmt* made = nullptr;
      const int code =
          sqlite3_prepare_v3(db_.get(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
      kept.reset(made);
      if (code != SQLITE_OK) fail();
    }
    return kept.get();
  }

  void bind(sqlite3_stmt* s, int i, const Value& value) {
    int code = SQLITE_OK;
    if (const auto* number = std::get_if<std::int64_t>(&value))
      code = sqlite3_bind_int64(s, i, *number);
    if (const auto* text = std::get_if<std::string>(&value))
      code = sqlite3_bind_text64(s, i, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    if (code != SQLITE_OK) fail();
  }

  static Value column(sqlite3_stmt* s, int c) {
    switch (sqlite3_column_type(s, c)) {
      case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(s, c)};
      case SQLITE_NULL: return {};
      default: break;
    }
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, c));
    return std::string(text == nullptr ? "" : text,
                       static_cast<std::size_t>(sqlite3_column_bytes(s, c)));
  }

  [[noreturn]] void fail() {
    const int code = sqlite3_extended_errcode(db_.get()), kind = code & 0xff;
    const std::string why = sqlite3_errmsg(db_.get());
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
      throw StorageError(fmt::format("the ledger '{}' is locked by another process", path_),
                         "nothing was charged; try again");
    if (kind == SQLITE_FULL)
      throw StorageError(fmt::format("no space is left for the ledger '{}'", path_),
                         "nothing was charged; make room and try again");
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || code == SQLITE_IOERR_DATA)
      throw StorageError(fmt::format("the ledger '{}' is damaged ({})", path_, why),
                         "sotto ledger verify says where; restore it from a copy");
    if (kind == SQLITE_READONLY)
      throw StorageError(fmt::format("the ledger '{}' is read-only", path_),
                         "charging needs to write the ledger and its directory");
    throw StorageError(fmt::format("the ledger '{}' cannot be used: {}", path_, why),
                       "nothing was charged");
  }
  void close() {
    statements_.clear();
    db_.reset();
  }

  using Statement = std::unique_ptr<sqlite3_stmt, SqliteFreed>;
  std::string path_;
  HeadFile head_file_;
  std::optional<Head> kept_;
  // Freed in the opposite order, also when the constructor throws: statements before what they
  // belong to.
  std::unique_ptr<sqlite3, SqliteFreed> db_;
  std::map<std::string, Statement> statements_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const StoreLocation& location, OpenMode mode) {
  return std::make_unique<Sqlite>(location, mode);
}

}  // namespace sotto::ledger
