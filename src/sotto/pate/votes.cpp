#include "sotto/pate/votes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto::pate {

Votes votes_of(const NpyArray& array, std::optional<std::uint64_t> teachers) {
  constexpr std::size_t kMostClasses = 100'000;
  constexpr double kMostVotes = 1e9;
  if (array.shape.size() != 2 || array.shape[0] == 0)
    throw DataError("votes are a matrix: one row for each query, one column for each class");
  if (array.shape[1] < 2 || array.shape[1] > kMostClasses)
    throw DataError(
        fmt::format("votes for {} classes; there must be 2 to {}", array.shape[1], kMostClasses));
  Votes votes{.classes = array.shape[1]};
  votes.counts.reserve(array.values.size());
  for (const double v : array.values) {
    if (!(v >= 0 && v <= kMostVotes) || v != std::floor(v))
      throw DataError("votes must be whole numbers from 0 on");
    votes.counts.push_back(static_cast<std::int64_t>(v));
  }
  const auto sum_of = [&](std::size_t query) {
    const auto row = votes.row(query);
    return static_cast<std::uint64_t>(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
  };
  votes.teachers = teachers ? *teachers : sum_of(0);
  if (votes.teachers == 0) throw DataError("there are no votes");
  for (std::size_t i = 0; i < votes.queries(); ++i) {
    if (teachers ? sum_of(i) > *teachers : sum_of(i) != votes.teachers)
      throw DataError(teachers ? "a query has more votes than there are teachers"
                               : "queries have different numbers of votes",
                      teachers ? "" : "say how many teachers there are with `voters`");
  }
  return votes;
}

}  // namespace sotto::pate
