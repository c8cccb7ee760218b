// A file that cannot be used, noticed before any cell of a record was looked at: it is not there,
// it cannot be opened, its header row is not the declared one. Whether this happens depends on
// public facts only (names of files and columns), so it may be recorded where others can read it.
// A row that cannot be parsed is a plain DataError: that depends on a record.
#pragma once

#include "sotto/core/error.hpp"

namespace sotto {

struct SourceError : DataError {
  using DataError::DataError;
};

}  // namespace sotto
