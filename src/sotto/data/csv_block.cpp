#include "sotto/data/csv_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sotto/data/csv_record.hpp"

namespace sotto {
namespace {

bool odd_quotes(std::string_view text) {
  bool odd = false;
  for (const char* p = text.data();
       (p = static_cast<const char*>(
            std::memchr(p, '"', static_cast<std::size_t>(text.data() + text.size() - p))));
       ++p) {
    odd = !odd;
  }
  return odd;
}

// One past the last line feed outside quotes; 0 when there is none.
std::size_t last_record_end(std::string_view text) {
  bool inside = odd_quotes(text);
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '"') inside = !inside;
    if (text[i] == '\n' && !inside) return i + 1;
  }
  return 0;
}

}  // namespace

CsvBlockReader::CsvBlockReader(std::unique_ptr<ByteSource> source, std::size_t block_bytes,
                               std::size_t max_record_bytes)
    : source_(std::move(source)),
      block_bytes_(std::max<std::size_t>(block_bytes, 1)),
      max_record_bytes_(max_record_bytes) {}

bool CsvBlockReader::next(CsvBlock& block) {
  std::size_t filled = tail_.size(), wanted = std::max(block_bytes_, filled);
  const auto resize = [&] { block.bytes.resize(wanted + 1 + CsvCursor::kPadding); };
  resize();
  std::copy(tail_.begin(), tail_.end(), block.bytes.begin());
  tail_.clear();
  for (;;) {
    if (!ended_) {
      const std::size_t n = source_->read(std::span(block.bytes).subspan(filled, wanted - filled));
      filled += n;
      ended_ = filled < wanted;
    }
    if (ended_) {
      if (filled == 0) return false;
      if (block.bytes[filled - 1] != '\n') block.bytes[filled++] = '\n';
      block.size = filled;
      return true;
    }
    block.size = last_record_end({block.bytes.data(), filled});
    if (block.size > 0) break;
    if (filled > max_record_bytes_) {
      throw CsvFault{0, 0, std::nullopt,
                     fmt::format("the record is longer than {} bytes", max_record_bytes_),
                     "a closing quote may be missing"};
    }
    wanted = std::min(wanted * 2, std::max(wanted, max_record_bytes_) + 1);
    resize();
  }
  const auto cut = block.bytes.begin() + static_cast<std::ptrdiff_t>(block.size);
  tail_.assign(cut, block.bytes.begin() + static_cast<std::ptrdiff_t>(filled));
  return true;
}

}  // namespace sotto
