#include "sotto/data/csv_record.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sotto {
namespace {

// One bit for each of 64 bytes: is it the delimiter, a line feed or a quote?
std::uint64_t marks_of(const char* bytes, char delimiter) {
  std::uint64_t marks = 0;
#if defined(__SSE2__)
  const __m128i delimiters = _mm_set1_epi8(delimiter), feeds = _mm_set1_epi8('\n'),
                quotes = _mm_set1_epi8('"');
  for (int i = 0; i < 4; ++i) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i));
    const __m128i hits =
        _mm_or_si128(_mm_cmpeq_epi8(chunk, delimiters),
                     _mm_or_si128(_mm_cmpeq_epi8(chunk, feeds), _mm_cmpeq_epi8(chunk, quotes)));
    marks |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(hits))) << (16 * i);
  }
#else
  for (int i = 0; i < 64; ++i) {
    const char c = bytes[i];
    marks |= static_cast<std::uint64_t>(c == delimiter || c == '\n' || c == '"') << i;
  }
#endif
  return marks;
}

}  // namespace

std::string_view CsvField::undoubled(std::string& scratch) const {
  scratch.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    scratch += raw[i];
    if (raw[i] == '"') ++i;  // the cursor has checked that quotes inside come in pairs
  }
  return scratch;
}

CsvCursor::CsvCursor(std::string_view block, char delimiter, std::size_t max_field_bytes)
    : block_(block),
      delimiter_(delimiter),
      max_field_bytes_(max_field_bytes),
      has_nul_(block.find('\0') != std::string_view::npos) {
  if (!block_.empty()) load_marks();
}

void CsvCursor::load_marks() {
  marks_ = marks_of(block_.data() + word_, delimiter_);
  const std::size_t left = block_.size() - word_;
  if (left < 64) marks_ &= (std::uint64_t{1} << left) - 1;  // the padding is not ours
}

inline std::size_t CsvCursor::next_mark() {
  while (marks_ == 0) [[unlikely]] {
      if (block_.size() - word_ <= 64) return block_.size();
      word_ += 64;
      load_marks();
    }
  const std::size_t mark = word_ + static_cast<std::size_t>(std::countr_zero(marks_));
  marks_ &= marks_ - 1;
  return mark;
}

void CsvCursor::fault(std::size_t column, std::string what, std::string hint) const {
  throw CsvFault{records_, record_line_, column, std::move(what), std::move(hint)};
}

// The field opens with a quote at `begin`; leaves `mark` at the delimiter or line feed after it.
void CsvCursor::add_quoted(std::vector<CsvField>& fields, std::size_t begin, std::size_t& mark) {
  CsvField field{.raw = {}, .quoted = true, .escaped = false};
  for (;;) {
    mark = next_mark();
    if (mark == block_.size()) {
      fault(fields.size(), "a quoted field is not closed before the end of the file",
            "close it with a quote; a quote inside a quoted field is written twice");
    }
    if (block_[mark] == '\n') ++lines_;
    if (block_[mark] != '"') continue;
    if (mark + 1 < block_.size() && block_[mark + 1] == '"') {
      field.escaped = true;
      mark = next_mark();
      continue;
    }
    break;
  }
  field.raw = block_.substr(begin + 1, mark - begin - 1);
  std::size_t after = mark + 1;
  if (after < block_.size() && block_[after] == '\r') ++after;
  mark = next_mark();
  const bool closed = mark == after && mark < block_.size() && block_[mark] != '"' &&
                      (after == begin + field.raw.size() + 2 || block_[mark] == '\n');
  if (!closed) {
    fault(fields.size(), "there is text after a closing quote",
          "quote the whole field; a quote inside a quoted field is written twice");
  }
  fields.push_back(field);
}

bool CsvCursor::next(std::vector<CsvField>& fields) {
  fields.clear();
  for (;;) {  // over lines with nothing on them
    if (position_ >= block_.size()) return false;
    record_line_ = lines_;
    std::size_t begin = position_;
    for (bool last = false; !last;) {  // over fields
      std::size_t mark = next_mark();
      if (mark == block_.size()) [[unlikely]] {
        fault(fields.size(), "the last record does not end", "end the file with a line feed");
      }
      char ends = block_.data()[mark];
      bool quoted = false;
      if (ends == '"') [[unlikely]] {
        if (mark != begin) {
          fault(fields.size(), "there is a quote inside a field that does not begin with one",
                "quote the whole field and double the quotes inside it");
        }
        add_quoted(fields, begin, mark);
        ends = block_[mark];
        quoted = true;
      } else {
        fields.push_back({.raw = {block_.data() + begin, mark - begin}});
      }
      std::string_view& raw = fields.back().raw;
      begin = mark + 1;
      last = ends == '\n';
      if (last && !quoted && raw.ends_with('\r')) raw.remove_suffix(1);
      if (raw.size() > max_field_bytes_) [[unlikely]] {
        fault(fields.size() - 1, fmt::format("the field is longer than {} bytes", max_field_bytes_),
              "a quote may be missing; longer fields need a larger limit");
      }
      if (has_nul_ && raw.find('\0') != std::string_view::npos) [[unlikely]] {
        fault(fields.size() - 1, "the field holds a NUL byte",
              "the file is not text, or is UTF-16; convert it to UTF-8");
      }
    }
    ++lines_;
    position_ = begin;
    if (!blank_lines_ && fields.size() == 1 && !fields[0].quoted && fields[0].raw.empty()) {
      fields.clear();
      continue;
    }
    ++records_;
    return true;
  }
}

}  // namespace sotto
