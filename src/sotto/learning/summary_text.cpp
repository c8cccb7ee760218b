// Statistics and conditions as people write them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/learning/summary.hpp"

namespace sotto {
namespace {

constexpr std::array<const char*, 8> kNames = {
    "count", "sum", "mean", "variance", "quantile", "histogram", "covariance", "correlation"};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    parts.emplace_back(trimmed(std::string_view(text).substr(begin, end - begin)));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

double number_of(const std::string& text, const std::string& whole) {
  const NumberCell cell = parse_number(text);
  if (cell.kind != CellKind::number)
    throw InvalidArgument(fmt::format("'{}' holds '{}', which is no number", whole, text));
  return cell.value;
}

}  // namespace

std::string SummaryStatistic::text() const {
  std::string result = kNames[static_cast<std::size_t>(kind)];
  if (!column.empty()) result += ":" + column;
  if (!second.empty()) result += ":" + second;
  if (kind == SummaryKind::quantile) result += fmt::format(":{}", probability);
  return result;
}

SummaryStatistic summary_statistic(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  SummaryStatistic statistic;
  const bool median = parts[0] == "median";
  const auto found = std::find(kNames.begin(), kNames.end(), median ? "quantile" : parts[0]);
  if (found == kNames.end()) {
    std::vector<std::string> known(kNames.begin(), kNames.end());
    known.emplace_back("median");
    throw InvalidArgument(fmt::format("there is no statistic '{}'", parts[0]),
                          name_hint(parts[0], known, "statistics"));
  }
  statistic.kind = static_cast<SummaryKind>(found - kNames.begin());
  const bool pair =
      statistic.kind == SummaryKind::covariance || statistic.kind == SummaryKind::correlation;
  const bool with_probability = statistic.kind == SummaryKind::quantile && !median;
  const std::size_t wanted = statistic.kind == SummaryKind::count ? 1
                             : pair || with_probability           ? 3
                                                                  : 2;
  const bool filled = std::none_of(parts.begin(), parts.end(),
                                   [](const std::string& part) { return part.empty(); });
  if (parts.size() != wanted || !filled)
    throw InvalidArgument(fmt::format("the statistic '{}' is not complete, or too long", text),
                          "write count, mean:age, median:age, quantile:age:0.9, histogram:city or "
                          "covariance:age:income");
  if (wanted > 1) statistic.column = parts[1];
  if (pair) statistic.second = parts[2];
  if (with_probability) {
    statistic.probability = number_of(parts[2], text);
    if (!(statistic.probability >= 0 && statistic.probability <= 1))
      throw InvalidArgument(fmt::format("'{}': a probability is between 0 and 1", text));
  }
  return statistic;
}

SummaryCondition summary_condition(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>=");
  SummaryCondition condition;
  condition.column = trimmed(text.substr(0, sign));
  if (sign == std::string::npos || condition.column.empty())
    throw InvalidArgument(fmt::format("the condition '{}' compares nothing", text),
                          "write age>=30, age<65 or city=Turin|Milan");
  const bool equals = text[sign] == '=';
  const bool closed = !equals && sign + 1 < text.size() && text[sign + 1] == '=';
  const std::string rest(trimmed(text.substr(sign + (closed ? 2 : 1))));
  if (equals) {
    condition.values = split(rest, '|');
    return condition;
  }
  condition.open = !closed;
  (text[sign] == '<' ? condition.upper : condition.lower) = number_of(rest, text);
  return condition;
}

}  // namespace sotto
