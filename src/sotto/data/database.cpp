#include "sotto/data/detail/database.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "sotto/core/nameless_file.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/data/source_error.hpp"

namespace sotto {
namespace {

constexpr std::string_view kSqlite("SQLite format 3\0", 16);
constexpr std::array<std::string_view, 2> kAddresses = {"postgresql://", "postgres://"};

bool is_address(std::string_view place) {
  return std::any_of(kAddresses.begin(), kAddresses.end(),
                     [&](std::string_view scheme) { return place.starts_with(scheme); });
}

std::string first_line(const char* text) {
  const std::string line = text == nullptr ? "" : text;
  return line.substr(0, line.find('\n'));
}

[[noreturn]] void failed_on_rows(const std::string& place, const std::string& code) {
  throw DataError(
      fmt::format("{}: the query failed while its rows were read (code {})", shown_place(place),
                  code),
      "the database's message may quote cells and is not shown; run the query by yourself");
}

// Text comes in pieces of any size and goes out as it is asked for.
class PieceSource : public ByteSource {
 public:
  std::size_t read(std::span<char> out) final {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (given_ == piece_.size()) {
        piece_.clear();
        given_ = 0;
        if (!next(piece_)) break;
      }
      const std::size_t n = std::min(out.size() - filled, piece_.size() - given_);
      std::copy_n(piece_.data() + given_, n, out.data() + filled);
      given_ += n;
      filled += n;
    }
    return filled;
  }

 protected:
  virtual bool next(std::string& piece) = 0;  // false at the end

 private:
  std::string piece_;
  std::size_t given_ = 0;
};

class PostgresQuery final : public PieceSource {
 public:
  PostgresQuery(std::string place, const std::string& query) : place_(std::move(place)) {
    connection_.reset(PQconnectdb(place_.c_str()));
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      throw SourceError(fmt::format("{} cannot be reached: {}", shown_place(place_),
                                    first_line(PQerrorMessage(connection_.get()))),
                        "check the address, and the password in PGPASSWORD or ~/.pgpass");
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    prepare("SET client_encoding = 'UTF8'");
    prepare("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // Alone it must be a statement, so that nothing can follow it in the parentheses below.
    Result alone(PQprepare(connection_.get(), "", query.c_str(), 0, nullptr));
    if (PQresultStatus(alone.get()) != PGRES_COMMAND_OK) refused();
    const std::string copy = fmt::format("COPY ({}\n) TO STDOUT (FORMAT csv, HEADER)", query);
    Result begun(
        PQexecParams(connection_.get(), copy.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0));
    if (PQresultStatus(begun.get()) == PGRES_COPY_OUT) return;
    // A query that is planned may have computed with rows already.
    const char* code = PQresultErrorField(begun.get(), PG_DIAG_SQLSTATE);
    // No right to the table, a statement that writes or that COPY does not take: said before any
    // row.
    const std::string_view known(code == nullptr ? "-" : code);
    if (known == "42501" || known == "25006" || known == "0A000") refused();
    failed_on_rows(place_, std::string(known));
  }

 private:
  struct Freed {
    void operator()(PGconn* c) const { PQfinish(c); }
    void operator()(PGresult* r) const { PQclear(r); }
  };
  using Result = std::unique_ptr<PGresult, Freed>;

  bool next(std::string& piece) override {
    if (ended_) return false;
    while (piece.size() < kPiece) {
      char* row = nullptr;
      const int size = PQgetCopyData(connection_.get(), &row, 0);
      if (size > 0) piece.append(row, static_cast<std::size_t>(size));
      PQfreemem(row);
      if (size > 0) continue;
      ended_ = true;
      Result result(PQgetResult(connection_.get()));
      if (size == -2 || PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
        const char* code = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
        failed_on_rows(place_, code == nullptr ? "-" : code);
      }
      break;
    }
    return !piece.empty();
  }
  void prepare(const char* statement) {
    Result result(PQexec(connection_.get(), statement));
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) refused();
  }
  [[noreturn]] void refused() const {
    throw SourceError(fmt::format("{} refuses the query: {}", shown_place(place_),
                                  first_line(PQerrorMessage(connection_.get()))),
                      "`query` is one SELECT without a semicolon");
  }

  static constexpr std::size_t kPiece = 1U << 16;
  std::string place_;
  std::unique_ptr<PGconn, Freed> connection_;
  bool ended_ = false;
};

class SqliteQuery final : public PieceSource {
 public:
  SqliteQuery(std::string path, const std::string& query) : path_(std::move(path)) {
    sqlite3* database = nullptr;
    const int opened = sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(database);
    if (opened != SQLITE_OK) refused("cannot be opened");
    sqlite3_busy_timeout(database, 10'000);
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    const int prepared = sqlite3_prepare_v2(database, query.c_str(), static_cast<int>(query.size()),
                                            &statement, &rest);
    statement_.reset(statement);
    if (prepared != SQLITE_OK) refused("refuses the query");
    const std::string_view more(rest == nullptr ? "" : rest);
    if (statement == nullptr || sqlite3_column_count(statement) == 0 ||
        sqlite3_stmt_readonly(statement) == 0 ||
        more.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      throw SourceError(fmt::format("{}: the query is not one statement that reads", path_),
                        "`query` is one SELECT");
  }

 private:
  struct Freed {
    void operator()(sqlite3* d) const { sqlite3_close_v2(d); }
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };

  bool next(std::string& piece) override {
    const int columns = sqlite3_column_count(statement_.get());
    if (!named_) {
      named_ = true;
      for (int c = 0; c < columns; ++c) {
        const char* name = sqlite3_column_name(statement_.get(), c);
        add(piece, csv_field(name == nullptr ? "" : name), c, columns);
      }
    }
    while (!ended_ && piece.size() < kPiece) {
      const int step = sqlite3_step(statement_.get());
      ended_ = step != SQLITE_ROW;
      if (step == SQLITE_DONE) break;
      if (ended_) failed_on_rows(path_, std::to_string(step));
      for (int c = 0; c < columns; ++c) add(piece, cell(c), c, columns);
    }
    return !piece.empty();
  }
  std::string cell(int c) const {
    sqlite3_stmt* s = statement_.get();
    const int type = sqlite3_column_type(s, c);
    if (type == SQLITE_NULL) return {};
    // The shortest digits that read back as the same number; the library would round them.
    if (type == SQLITE_FLOAT) return fmt::format("{}", sqlite3_column_double(s, c));
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, c));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(s, c));
    return text == nullptr ? std::string() : csv_field({text, size});
  }
  static void add(std::string& piece, const std::string& field, int c, int columns) {
    piece += field;
    piece += c + 1 < columns ? ',' : '\n';
  }
  [[noreturn]] void refused(const char* what) const {
    throw SourceError(
        fmt::format("{} {}: {}", path_, what, first_line(sqlite3_errmsg(database_.get()))),
        "`query` is one SELECT");
  }

  static constexpr std::size_t kPiece = 1U << 16;
  std::string path_;
  std::unique_ptr<sqlite3, Freed> database_;
  std::unique_ptr<sqlite3_stmt, Freed> statement_;
  bool named_ = false, ended_ = false;
};

class DescriptorSource final : public ByteSource {
 public:
  explicit DescriptorSource(int descriptor) : descriptor_(descriptor) {}
  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t n =
          ::pread(descriptor_, out.data() + filled, out.size() - filled, static_cast<off_t>(at_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        throw DataError(fmt::format("a temporary file cannot be read: {}", std::strerror(errno)));
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
      at_ += static_cast<std::size_t>(n);
    }
    return filled;
  }

 private:
  int descriptor_;
  std::size_t at_ = 0;
};

[[noreturn]] void cannot_spool(const char* what) {
  throw DataError(fmt::format("the temporary file for the query's rows cannot be {}: {}", what,
                              std::strerror(errno)),
                  "name a directory with more room in TMPDIR");
}

}  // namespace

bool is_database(const std::string& place) {
  if (is_address(place)) return true;
  std::error_code none;
  if (!std::filesystem::is_regular_file(place, none)) return false;
  std::array<char, kSqlite.size()> head{};
  const std::size_t n = open_unwatched(place)->read(head);
  return std::string_view(head.data(), n) == kSqlite;
}

std::string shown_place(const std::string& place) {
  if (!is_address(place)) return place;
  const std::size_t begin = place.find("://") + 3;
  const std::string address = place.substr(begin, place.find('?') - begin);
  const std::size_t at = address.rfind('@');
  return place.substr(0, begin) + (at == std::string::npos ? address : address.substr(at + 1));
}

std::unique_ptr<ByteSource> open_query(const std::string& place, const std::string& query) {
  if (query.empty())
    throw SourceError(fmt::format("{} is a database", shown_place(place)),
                      "say which rows with `query`, e.g. \"select * from people\"");
  if (is_address(place)) return std::make_unique<PostgresQuery>(place, query);
  return std::make_unique<SqliteQuery>(place, query);
}

Spool::File::File() : descriptor(open_nameless_file()) {
  if (descriptor < 0) cannot_spool("made");
}
Spool::File::~File() { ::close(descriptor); }

Spool::Spool(ByteSource& source) {
  std::vector<char> buffer(std::size_t{1} << 18);
  for (std::size_t n = buffer.size(); n == buffer.size();) {
    n = source.read(buffer);
    for (std::size_t done = 0; done < n;) {
      const ssize_t written = ::write(file_.descriptor, buffer.data() + done, n - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) cannot_spool("written");
      done += static_cast<std::size_t>(written);
    }
  }
}

std::unique_ptr<ByteSource> Spool::open() const {
  return std::make_unique<DescriptorSource>(file_.descriptor);
}

}  // namespace sotto
