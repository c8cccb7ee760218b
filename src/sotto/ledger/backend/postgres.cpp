// The back end for teams: a PostgreSQL server through libpq. One writer at a time by a lock on the table of entries.
#include <fmt/format.h>
#include <libpq-fe.h>

#include "sotto/core/error.hpp"
#include "sotto/ledger/database.hpp"

namespace sotto::ledger {
namespace {

struct Freed {
  void operator()(PGconn* c) const { PQfinish(c); }
  void operator()(PGresult* r) const { PQclear(r); }
};
using Result = std::unique_ptr<PGresult, Freed>;

constexpr Oid kInt8 = 20, kInt4 = 23;

std::string first_line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  return line.substr(0, line.find('\n'));
}

class Postgres final : public Database {
 public:
  Postgres(const StoreLocation& location, OpenMode mode) {
    connection_.reset(PQconnectdb(location.place.c_str()));
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      throw StorageError(fmt::format("cannot reach the ledger's server: {}",
                                     first_line(PQerrorMessage(connection_.get()))),
                         "check the address, and the password in PGPASSWORD, ~/.pgpass or "
                         "--dsn-file");
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    run("SET client_encoding = 'UTF8'");
    run("SET synchronous_commit = on");
    run(fmt::format("SET lock_timeout = {}", location.patience.count()));
    run(fmt::format("SET idle_in_transaction_session_timeout = {}", 60000));
    if (mode == OpenMode::read) run("SET default_transaction_read_only = on");
    if (mode != OpenMode::create && !has_table("sotto_entries"))
      throw StorageError("there is no ledger in this database", "sotto ledger create makes one");
  }

  std::vector<Values> query(const std::string& sql, const Values& values) override {
    std::vector<std::string> texts(values.size());
    std::vector<const char*> pointers(values.size(), nullptr);
    std::vector<Oid> types(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (const auto* n = std::get_if<std::int64_t>(&values[i]))
        texts[i] = std::to_string(*n), types[i] = kInt8;
      if (const auto* t = std::get_if<std::string>(&values[i])) texts[i] = *t;
      if (values[i].index() != 0) pointers[i] = texts[i].c_str();
    }
    const Result result(PQexecParams(connection_.get(), sql.c_str(),
                                     static_cast<int>(values.size()), types.data(), pointers.data(),
                                     nullptr, nullptr, 0));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(result.get());
    std::vector<Values> rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (int c = 0; c < PQnfields(result.get()); ++c)
        rows[r].push_back(column(result.get(), static_cast<int>(r), c));
    }
    return rows;
  }

  void begin_writing() override {
    run("BEGIN ISOLATION LEVEL READ COMMITTED");
    try {
      // Readers go on; whoever writes waits here, and sees everything committed when it is let in. A store that is still being made
      // has no table to lock: then a fixed number stands for it.
      if (has_table("sotto_entries")) {
        run("LOCK TABLE sotto_entries IN EXCLUSIVE MODE");
      } else {
        run("SELECT pg_advisory_xact_lock(7311142250031)");
      }
    } catch (...) {
      rollback();
      throw;
    }
  }
  void begin_reading() override { run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); }
  void commit() override {
    committing_ = true;
    run("COMMIT");
    committing_ = false;
  }
  void rollback() noexcept override {
    committing_ = false;
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE)
      PQclear(PQexec(connection_.get(), "ROLLBACK"));
  }

  bool has_table(const std::string& name) override {
    return !query(
                "SELECT 1 FROM pg_catalog.pg_class c WHERE c.relname = $1 AND c.relkind = 'r' AND "
                "pg_catalog.pg_table_is_visible(c.oid)",
                {name})
                .empty();
  }

 private:
  static Value column(const PGresult* r, int row, int c) {
    if (PQgetisnull(r, row, c) == 1) return {};
    const std::string text(PQgetvalue(r, row, c), static_cast<std::size_t>(PQgetlength(r, row, c)));
    const Oid type = PQftype(r, c);
    if (type == kInt8 || type == kInt4) return static_cast<std::int64_t>(std::stoll(text));
    return text;
  }

  [[noreturn]] void fail(const PGresult* result) {
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string code = state == nullptr ? "" : state;
    const std::string why = first_line(PQerrorMessage(connection_.get()));
    if (code == "55P03")
      throw StorageError("the ledger is locked by another process",
                         "nothing was charged; try again");
    if (code == "25006")
      throw StorageError("the ledger is read-only", "charging needs the right to write");
    const bool unsure = committing_ && PQstatus(connection_.get()) != CONNECTION_OK;
    throw StorageError(fmt::format("the ledger's server failed: {}", why),
                       unsure ? "the connection broke during the commit, so the charge may or may "
                                "not be there; repeat with the same --key, it is charged only once"
                              : "nothing was charged");
  }

  std::unique_ptr<PGconn, Freed> connection_;
  bool committing_ = false;
};

}  // namespace

std::unique_ptr<Database> open_postgres(const StoreLocation& location, OpenMode mode) {
  return std::make_unique<Postgres>(location, mode);
}

}  // namespace sotto::ledger
