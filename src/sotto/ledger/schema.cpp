#include "sotto/ledger/detail/schema.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::ledger {
namespace {

[[noreturn]] void newer(std::int64_t version, std::size_t known) {
  throw StorageError(
      fmt::format("the ledger has schema version {}; this sotto knows versions up to {}", version,
                  known),
      "use the sotto that wrote it, or a newer one");
}

}  // namespace

const std::vector<Migration>& migrations() {
  // Entries are the truth; the other tables are derived from them and recomputed by verify.
  static const std::vector<Migration> steps = {
      {
          "CREATE TABLE sotto_schema (version BIGINT NOT NULL)",
          "INSERT INTO sotto_schema (version) VALUES (0)",
          // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one statement in several lines
          "CREATE TABLE sotto_entries (seq BIGINT PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT "
          "NOT NULL, release_key TEXT, refers BIGINT, body TEXT NOT NULL, hash TEXT NOT NULL)",
          "CREATE UNIQUE INDEX sotto_entries_key ON sotto_entries (dataset, release_key)",
          "CREATE UNIQUE INDEX sotto_entries_refers ON sotto_entries (refers)",
          "CREATE TABLE sotto_datasets (name TEXT PRIMARY KEY, seq BIGINT NOT NULL)",
          "CREATE TABLE sotto_spends (dataset TEXT NOT NULL, part TEXT NOT NULL, seq BIGINT NOT "
          "NULL, "
          "spend TEXT NOT NULL, PRIMARY KEY (dataset, part))",
      },
      // Entries state the digest of all spends of their data set: the newest one is looked up.
      {"CREATE INDEX sotto_entries_dataset ON sotto_entries (dataset, seq)"},
      // Refusals and decisions are entries: the functions of a server learn of them.
      {},
      // A data set may have a tally, which a program that does not know of it would pass over.
      {},
      // The functions of a server look nothing up where others may create objects.
      {},
      // They take events, spends and statements only in the shape that clients read.
      {},
      // They compare the numbers of a tally as doubles, as clients do.
      {}};
  return steps;
}

std::int64_t schema_version(Database& db) {
  if (!db.has_table("sotto_schema")) return 0;
  const auto rows = db.query("SELECT version FROM sotto_schema");
  if (rows.size() != 1 || !std::holds_alternative<std::int64_t>(rows[0][0]))
    throw StorageError("the ledger's schema version is damaged", "restore the store from a copy");
  return std::get<std::int64_t>(rows[0][0]);
}

void migrate(Database& db, std::span<const Migration> steps) {
  std::int64_t version = schema_version(db);
  if (version < 0 || static_cast<std::size_t>(version) > steps.size()) newer(version, steps.size());
  if (static_cast<std::size_t>(version) == steps.size()) return;
  for (; static_cast<std::size_t>(version) < steps.size(); ++version) {
    for (const std::string& sql : steps[static_cast<std::size_t>(version)]) db.run(sql);
    db.change_one("UPDATE sotto_schema SET version = $1", {version + 1});
  }
  db.install_functions();
}

void require_current(Database& db, std::span<const Migration> steps) {
  const std::int64_t version = schema_version(db);
  if (version == static_cast<std::int64_t>(steps.size())) return;
  if (version > static_cast<std::int64_t>(steps.size())) newer(version, steps.size());
  throw StorageError(
      version == 0 ? "there is no ledger here"
                   : fmt::format("the ledger has the old schema version {}", version),
      version == 0 ? "sotto ledger create makes one"
                   : "any command that writes (sotto ledger reserve, charge) brings it up to date");
}

}  // namespace sotto::ledger
