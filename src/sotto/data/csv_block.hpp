// Cuts a stream of CSV bytes into blocks of whole records, fast and without parsing them.
//
// A line feed ends a record exactly when an even number of quotes stands between the start of a
// record and it (csv_record.hpp says why). Every block starts at a record, so counting quotes in
// the block and walking back from its end finds the last record end. Where the cuts fall depends on
// the bytes and the block size only, never on threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "sotto/data/byte_source.hpp"

namespace sotto {

struct CsvBlock {
  std::string_view text() const { return {bytes.data(), size}; }
  std::vector<char> bytes;  // `size` bytes of whole records, then CsvCursor::kPadding more
  std::size_t size = 0;
};

class CsvBlockReader {
 public:
  CsvBlockReader(std::unique_ptr<ByteSource> source, std::size_t block_bytes,
                 std::size_t max_record_bytes);

  // False at the end. The last block gets a line feed when the file has none.
  // Throws CsvFault (record 0 of the block) for a record longer than the limit.
  bool next(CsvBlock& block);

  bool ended() const { return ended_ && tail_.empty(); }  // nothing is left to read

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t block_bytes_, max_record_bytes_;
  std::vector<char> tail_;  // read already, belongs to the next block
  bool ended_ = false;
};

}  // namespace sotto
