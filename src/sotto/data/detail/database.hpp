// Rows of a database as CSV text: what a query answers, streamed.
//
// A place is an address (postgresql://…) or an SQLite file, told by its first bytes. The query runs
// in a read-only transaction, is one statement, and its answer is CSV with a header: whatever reads
// CSV files reads it. Nothing of a row is ever part of a message: a server's own words may quote
// cells, so they are told only while no row was asked for.
#pragma once

#include <memory>
#include <string>

#include "sotto/data/byte_source.hpp"

namespace sotto {

bool is_database(const std::string& place);
// The address without user, password and parameters.
std::string shown_place(const std::string& place);

// Throws SourceError when there is no such database or the query cannot be prepared; read() throws
// DataError when it fails on the way.
std::unique_ptr<ByteSource> open_query(const std::string& place, const std::string& query);

// All that is left of a source in a file without a name, for as many passes as are wanted over the
// very same bytes: a query that is asked twice may answer twice.
class Spool {
 public:
  explicit Spool(ByteSource& source);  // throws DataError when there is no room
  // From the first byte on; the spool must outlive it.
  std::unique_ptr<ByteSource> open() const;

 private:
  struct File {
    File();
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int descriptor;
  };
  File file_;
};

}  // namespace sotto
