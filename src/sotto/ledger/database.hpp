// The little of a database that the ledger needs: statements with bound values, and transactions
// that one writer holds at a time.
//
// Two back ends speak the same SQL: SQLite (one file) and PostgreSQL (a server). Values travel as
// bound parameters $1, $2, … in order of appearance, never inside the text of a statement. Every
// failure is a StorageError; a transaction that did not commit left nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/ledger/backend/head_file.hpp"

namespace sotto::ledger {

using Value = std::variant<std::monostate, std::int64_t, std::string>;
using Values = std::vector<Value>;

// What one place of a data set has spent, as it is stored.
struct PlaceSpend {
  std::string part, spend;
};

class Database {
 public:
  virtual ~Database() = default;
  virtual std::vector<Values> query(const std::string& sql, const Values& values = {}) = 0;
  void run(const std::string& sql, const Values& values = {}) { (void)query(sql, values); }
  // An INSERT or UPDATE that is meant for one row. A spend that changes no row would be a release
  // for nothing: throws VerificationFailed.
  void change_one(const std::string& sql, const Values& values);

  // One entry more (seq, kind, dataset, release_key, refers, body, hash), and what it leaves of one
  // spend: both or neither, each exactly one row.
  // A server checks what it is given, because those who may charge need not be trusted with its
  // tables.
  virtual void append(const Values& entry, const std::optional<PlaceSpend>& left);
  // What the server does itself, made anew with each version of the tables. Within a transaction.
  virtual void install_functions() {}

  // After begin_writing() no other process changes the store until commit or rollback, and
  // everything committed before is seen.
  virtual void begin_writing() = 0;
  virtual void begin_reading() = 0;  // one unchanging view
  virtual void commit() = 0;         // durable when it returns
  virtual void rollback() noexcept = 0;

  virtual bool has_table(const std::string& name) = 0;
  // Throws VerificationFailed when the medium itself is damaged, in places that no statement reads.
  virtual void check_medium() {}

  // A witness outside the store of which entry was the newest: kept after each commit, as it was
  // before the current transaction began.
  virtual void keep_head(const Head&) {}
  virtual std::optional<Head> kept_head() const { return std::nullopt; }
  virtual std::string witness() const { return {}; }  // its file
};

// A transaction that is undone unless committed.
class Transaction {
 public:
  static Transaction writing(Database& db) { return Transaction(db, true); }
  static Transaction reading(Database& db) { return Transaction(db, false); }
  ~Transaction() {
    if (open_) db_.rollback();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    db_.commit();
    open_ = false;
  }

 private:
  Transaction(Database& db, bool write) : db_(db) {
    write ? db_.begin_writing() : db_.begin_reading();
    open_ = true;
  }
  Database& db_;
  bool open_ = false;
};

enum class OpenMode { read, write, create };  // create: the store may be new

struct StoreLocation {
  std::string place;  // a file path, or a postgresql:// URL or connection string
  std::chrono::milliseconds patience{30000};  // how long to wait for another writer
  // For a server: the directory where this machine remembers the newest entry it has seen. Empty:
  // it does not.
  std::string witness = {};
};
bool is_postgres(const std::string& place);

std::unique_ptr<Database> open_sqlite(const StoreLocation& location, OpenMode mode);
std::unique_ptr<Database> open_postgres(const StoreLocation& location, OpenMode mode);
std::unique_ptr<Database> open_database(const StoreLocation& location, OpenMode mode);

}  // namespace sotto::ledger
