#include "sotto/local/server/rappor_files.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sotto/core/error.hpp"

namespace sotto::local {
namespace {

std::string quoted(const std::string& word) {
  if (word.find_first_of(",\"\r\n") == std::string::npos) return word;
  std::string result = "\"";
  for (const char c : word) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

// The fields of all lines.
std::vector<std::vector<std::string>> fields(const std::string& text, const char* what) {
  std::vector<std::vector<std::string>> lines;
  for (std::size_t at = 0; at < text.size();) {
    lines.emplace_back();
    for (bool more = true; more;) {
      std::string field;
      if (text[at] == '"') {
        for (++at;; ++at) {
          if (at >= text.size()) throw DataError(fmt::format("{} has a quote without end", what));
          if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
          if (text[at] == '"') ++at;
          field += text[at];
        }
        ++at;
      } else {
        while (at < text.size() && text[at] != ',' && text[at] != '\n') field += text[at++];
        if (!field.empty() && field.back() == '\r') field.pop_back();
      }
      if (at < text.size() && text[at] == '\r') ++at;
      more = at < text.size() && text[at] == ',';
      if (!more && at < text.size() && text[at] != '\n')
        throw DataError(fmt::format("{} has text after a quote", what));
      ++at;
      lines.back().push_back(std::move(field));
      if (more && at >= text.size()) throw DataError(fmt::format("{} ends in a comma", what));
    }
  }
  return lines;
}

template <class T>
T parsed(const std::string& text, const char* what) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw DataError(fmt::format("{} has a field that is not a number", what));
  return value;
}

}  // namespace

std::string params_csv(const RapporParameters& r) {
  return fmt::format("k,h,m,p,q,f\n{},{},{},{},{},{}\n", r.bits, r.hashes, r.cohorts, r.p, r.q,
                     r.f);
}

std::string counts_csv(std::span<const std::int64_t> cells, const RapporParameters& r) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("{}{}", cells[i], (i + 1) % (r.bits + 1) == 0 ? '\n' : ',');
  return text;
}

std::string map_csv(const std::vector<std::string>& words, const RapporParameters& r) {
  std::string text;
  for (const std::string& word : words) {
    text += quoted(word);
    for (std::uint64_t j = 0; j < r.cohorts; ++j)
      for (std::uint64_t i = 0; i < r.hashes; ++i)
        text += fmt::format(",{}", j * r.bits + bloom_index(word, j, i, r) + 1);
    text += '\n';
  }
  return text;
}

RapporParameters parse_params_csv(const std::string& text) {
  const char* what = "params.csv";
  const auto lines = fields(text, what);
  if (lines.size() != 2 || lines[0] != std::vector<std::string>{"k", "h", "m", "p", "q", "f"} ||
      lines[1].size() != 6)
    throw DataError("params.csv has the header k,h,m,p,q,f and one line of numbers");
  const RapporParameters r{.bits = parsed<std::uint64_t>(lines[1][0], what),
                           .hashes = parsed<std::uint64_t>(lines[1][1], what),
                           .cohorts = parsed<std::uint64_t>(lines[1][2], what),
                           .f = parsed<double>(lines[1][5], what),
                           .p = parsed<double>(lines[1][3], what),
                           .q = parsed<double>(lines[1][4], what)};
  try {
    (void)Rappor(r);
  } catch (const InvalidArgument& e) {
    throw DataError(e.what(), e.hint());
  }
  return r;
}

std::vector<std::int64_t> parse_counts_csv(const std::string& text, const RapporParameters& r) {
  const char* what = "counts.csv";
  const auto lines = fields(text, what);
  if (lines.size() != r.cohorts) throw DataError("counts.csv has one line a cohort");
  std::vector<std::int64_t> cells;
  for (const auto& line : lines) {
    if (line.size() != r.bits + 1)
      throw DataError("a line of counts.csv has the number of reports and that of each bit");
    const auto n = parsed<std::int64_t>(line[0], what);
    if (n < 0 || n > static_cast<std::int64_t>(kMostReports))
      throw DataError("counts.csv has an impossible number of reports");
    for (const std::string& field : line) {
      cells.push_back(parsed<std::int64_t>(field, what));
      if (cells.back() < 0 || cells.back() > n)
        throw DataError("counts.csv counts a bit more often than there are reports");
    }
  }
  return cells;
}

std::vector<RapporCandidate> parse_map_csv(const std::string& text, const RapporParameters& r) {
  const char* what = "map.csv";
  std::vector<RapporCandidate> result;
  for (const auto& line : fields(text, what)) {
    if (line.size() != 1 + r.cohorts * r.hashes)
      throw DataError("a line of map.csv has a word and the bits of each cohort");
    RapporCandidate candidate{line[0], std::vector<std::uint32_t>(r.cohorts, 0)};
    for (std::size_t i = 1; i < line.size(); ++i) {
      const std::uint64_t cohort = (i - 1) / r.hashes, first = cohort * r.bits + 1;
      const auto index = parsed<std::uint64_t>(line[i], what);
      if (index < first || index >= first + r.bits)
        throw DataError("map.csv names a bit outside of its cohort");
      candidate.bits[cohort] |= std::uint32_t{1} << (index - first);
    }
    result.push_back(std::move(candidate));
  }
  return result;
}

}  // namespace sotto::local
