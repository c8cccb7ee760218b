// Any bytes as a CSV file: rows or a DataError, the same whatever the block size; numbers that are
// delivered are finite.
#include <cmath>
#include <cstdint>
#include <string>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/csv.hpp"

namespace {

using namespace sotto;

std::string outcome(const std::string& text, bool header, std::size_t block_bytes) {
  const CsvOptions options{.header = header,
                           .threads = 1,
                           .block_bytes = block_bytes,
                           .max_field_bytes = 200,
                           .max_record_bytes = std::size_t{1} << 20};
  std::string seen;
  try {
    CsvReader reader = CsvReader::from_text(text, options, "input");
    const std::size_t width = reader.columns().size();
    reader.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
      require(cells.size() == width, "a row has one cell for each column");
      for (const std::string_view cell : cells) seen.append(cell) += '\x1f';
      seen += '\x1e';
    });
    for (std::size_t c = 0; c < width; ++c) {
      try {
        reader.for_each_matrix({&c, 1}, [](std::span<const double> values, std::uint64_t) {
          for (const double v : values) require(std::isfinite(v), "a delivered number is finite");
        });
        seen += "numeric";
      } catch (const DataError& error) {
        seen += error.what();
      }
    }
    return seen;
  } catch (const DataError& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  // In a damaged gzip file it depends on the block size whether the damage or a malformed record in
  // front of it is met first.
  const bool packed = text.starts_with("\x1f\x8b");
  for (const bool header : {true, false}) {
    const std::string whole = outcome(text, header, std::size_t{1} << 16);
    for (const std::size_t block_bytes : {1U, 50U}) {
      const std::string cut = outcome(text, header, block_bytes);
      require(packed || cut == whole, "the block size changes nothing");
    }
  }
  return 0;
}
