// The back end for teams: a PostgreSQL server through libpq. One writer at a time by a lock on the
// table of entries; everybody writes through two functions of the server (postgres_functions.hpp),
// so that a role that may charge has no right to write a table.
#include <fmt/format.h>
#include <libpq-fe.h>

#include <cctype>
#include <filesystem>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/backend/detail/postgres_functions.hpp"
#include "sotto/ledger/database.hpp"

namespace sotto::ledger {
namespace {

namespace fs = std::filesystem;

struct PostgresFreed {
  void operator()(PGconn* c) const { PQfinish(c); }
  void operator()(PGresult* r) const { PQclear(r); }
};
using Result = std::unique_ptr<PGresult, PostgresFreed>;

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
                         "`dsn_file`");
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    run("SET client_encoding = 'UTF8'");
    run("SET synchronous_commit = on");
    run(fmt::format("SET lock_timeout = {}", location.patience.count()));
    run(fmt::format("SET idle_in_transaction_session_timeout = {}", 60000));
    if (mode == OpenMode::read) run("SET default_transaction_read_only = on");
    if (!location.witness.empty()) find_witness(location.witness);
    if (has_table("sotto_entries")) return;
    if (mode != OpenMode::create)
      throw StorageError("there is no ledger in this database", "sotto ledger create makes one");
    if (head_file_ && head_file_->read())
      throw StorageError(
          fmt::format("the ledger is gone, but '{}' says that it had entries", witness()),
          "restore it from a copy; to start a new ledger in this database, remove that file");
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

  void append(const Values& entry, const std::optional<PlaceSpend>& left) override {
    Values values = entry;
    values.push_back(left ? Value(left->part) : Value{});
    values.push_back(left ? Value(left->spend) : Value{});
    run("SELECT sotto_append($1, $2, $3, $4, $5, $6, $7, $8, $9)", values);
  }

  void install_functions() override {
    const auto schema =
        std::get<std::string>(query("SELECT quote_ident(current_schema())", {}).at(0).at(0));
    run(lock_function(schema));
    run(append_function(schema));
    for (const char* function : {kLockSignature, kAppendSignature})  // else everybody may call them
      run(fmt::format("REVOKE ALL ON FUNCTION {}.{} FROM PUBLIC", schema, function));
  }

  void begin_writing() override {
    read_witness();
    run("BEGIN ISOLATION LEVEL READ COMMITTED");
    try {
      // Readers go on; whoever writes waits here, and sees everything committed when it is let in.
      // A store of version 1 has no function, one that is still being made no table: then a fixed
      // number stands for it.
      if (has_function("sotto_lock")) {
        run("SELECT sotto_lock()");
      } else if (has_table("sotto_entries")) {
        run("LOCK TABLE sotto_entries IN EXCLUSIVE MODE");
      } else {
        run("SELECT pg_advisory_xact_lock(7311142250031)");
      }
    } catch (...) {
      rollback();
      throw;
    }
  }
  void begin_reading() override {
    read_witness();
    run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
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

  void keep_head(const Head& head) override {
    if (!head_file_) return;
    std::error_code ignored;  // like a witness that cannot be written
    const fs::path directory = fs::path(head_file_->path()).parent_path();
    if (fs::create_directories(directory, ignored))
      fs::permissions(directory, fs::perms::owner_all, ignored);
    head_file_->advance(head);
  }
  std::optional<Head> kept_head() const override { return kept_; }
  std::string witness() const override { return head_file_ ? head_file_->path() : ""; }

 private:
  bool has_function(const std::string& name) {
    return !query(
                "SELECT 1 FROM pg_catalog.pg_proc p WHERE p.proname = $1 AND "
                "pg_catalog.pg_function_is_visible(p.oid)",
                {name})
                .empty();
  }

  // Named by the place, not by what is there: a ledger that was made anew in the same place is
  // another one.
  void find_witness(const std::string& directory) {
    const auto text = [](const Value& v) {
      const auto* t = std::get_if<std::string>(&v);
      return t == nullptr ? std::string() : *t;
    };
    const Values row =
        query("SELECT current_schema()::text, pg_catalog.pg_is_in_recovery()::text", {}).at(0);
    if (text(row.at(1)) != "false") return;  // a replica may be behind without anybody's fault
    const auto of = [](const char* t) { return std::string(t == nullptr ? "" : t); };
    const std::string database = of(PQdb(connection_.get()));
    std::string name;
    for (char c : database) name += isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    const std::string place = fmt::format("{}\n{}\n{}\n{}", of(PQhost(connection_.get())),
                                          of(PQport(connection_.get())), database, text(row.at(0)));
    head_file_.emplace((fs::path(directory) / (name + "-" + sha256(place).substr(0, 16))).string());
  }
  void read_witness() { kept_ = head_file_ ? head_file_->read() : std::nullopt; }

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
    std::string why = first_line(PQerrorMessage(connection_.get()));
    if (why.starts_with("ERROR:")) why = why.substr(why.find_first_not_of(' ', 6));
    if (code == "55P03")
      throw StorageError("the ledger is locked by another process",
                         "nothing was charged; try again");
    if (code == kRefusedState)
      throw VerificationFailed(fmt::format("the ledger's server refuses the entry: {}", why),
                               "nothing was charged; sotto ledger verify checks the whole store");
    if (code == "42501")
      throw StorageError(fmt::format("this role lacks a right on the ledger: {}", why),
                         "nothing was charged; the owner gives rights with sotto ledger roles");
    if (code == "25006")
      throw StorageError("the ledger is read-only", "charging needs the right to write");
    const bool unsure = committing_ && PQstatus(connection_.get()) != CONNECTION_OK;
    throw StorageError(fmt::format("the ledger's server failed: {}", why),
                       unsure ? "the connection broke during the commit, so the charge may or may "
                                "not be there; repeat with the same `key`, it is charged only once"
                              : "nothing was charged");
  }

  std::unique_ptr<PGconn, PostgresFreed> connection_;
  bool committing_ = false;
  std::optional<HeadFile> head_file_;
  std::optional<Head> kept_;
};

}  // namespace

std::unique_ptr<Database> open_postgres(const StoreLocation& location, OpenMode mode) {
  return std::make_unique<Postgres>(location, mode);
}

}  // namespace sotto::ledger
