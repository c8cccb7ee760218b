#include "sotto/ledger/database.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::ledger {

void Database::change_one(const std::string& sql, const Values& values) {
  const std::size_t changed = query(sql + " RETURNING 1", values).size();
  if (changed == 1) return;
  throw VerificationFailed(
      fmt::format("the ledger's tables do not take what is written: {} rows changed instead of one",
                  changed),
      "nothing was charged; look for rules and triggers in the database, restore it from a copy");
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
