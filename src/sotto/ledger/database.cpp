#include "sotto/ledger/database.hpp"

#include "sotto/core/error.hpp"

namespace sotto::ledger {

bool is_postgres(const std::string& place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://") ||
         place.find("dbname=") != std::string::npos || place.find("host=") != std::string::npos;
}

std::unique_ptr<Database> open_database(const StoreLocation& location, OpenMode mode) {
  if (location.place.empty()) throw InvalidArgument("the ledger needs a place: a file or a URL");
  return is_postgres(location.place) ? open_postgres(location, mode) : open_sqlite(location, mode);
}

}  // namespace sotto::ledger
