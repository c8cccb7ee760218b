#include "sotto/models/linear/detail/candidates_file.hpp"

#include <fmt/format.h>

#include <sstream>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/number.hpp"

namespace sotto {

std::vector<std::vector<double>> read_candidates(const std::string& path) {
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  std::istringstream in(read_all(path, kLimit));
  std::vector<std::vector<double>> candidates;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (trimmed(line).empty() || line[0] == '#') continue;
    std::vector<double>& candidate = candidates.emplace_back();
    std::string_view rest = line;
    for (bool more = true; more;) {
      const std::size_t comma = rest.find(',');
      more = comma != std::string_view::npos;
      const NumberCell cell = parse_number(rest.substr(0, comma));
      if (cell.kind != CellKind::number) {
        throw DataError(fmt::format("{}, line {}, number {}: not a finite number", path, number,
                                    candidate.size() + 1),
                        "one candidate a line, its parameters separated by commas");
      }
      candidate.push_back(cell.value);
      if (more) rest.remove_prefix(comma + 1);
    }
  }
  if (candidates.empty())
    throw DataError(fmt::format("there are no candidates in '{}'", path),
                    "one candidate a line, its parameters separated by commas");
  return candidates;
}

}  // namespace sotto
