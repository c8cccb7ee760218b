#include "sotto/ledger/database.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

void Database::change_one(const std::string& sql, const Values& values) {
  const std::size_t changed = query(sql + " RETURNING 1", values).size();
  if (changed == 1) return;
  throw VerificationFailed(
      fmt::format("the ledger's tables do not take what is written: {} rows changed instead of one",
                  changed),
      "nothing was charged; look for rules and triggers in the database, restore it from a copy");
}

void Database::append(const Values& entry, const std::optional<PlaceSpend>& left) {
  change_one(fmt::format("INSERT INTO sotto_entries ({}) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                         kEntryColumns),
             entry);
  if (!left) return;
  change_one("UPDATE sotto_spends SET seq = $1, spend = $2 WHERE dataset = $3 AND part = $4",
             {entry.at(0), left->spend, entry.at(2), left->part});
}

bool is_postgres(const std::string& place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://") ||
         place.find("dbname=") != std::string::npos || place.find("host=") != std::string::npos;
}

std::unique_ptr<Database> open_database(const StoreLocation& location, OpenMode mode) {
  if (location.place.empty()) throw InvalidArgument("the ledger needs a place: a file or a URL");
  return is_postgres(location.place) ? open_postgres(location, mode) : open_sqlite(location, mode);
}

}  // namespace sotto::ledger
