#include "commands/released_scores.hpp"

#include <algorithm>
#include <cmath>

namespace sotto::cli {

replay::Recording recorded(const Training& training, Rng& rng, const replay::Recording* follow) {
  return replay::record(
      rng.next_u64(),
      [&](Rng& own) -> std::optional<Event> {
        training(own);
        return std::nullopt;
      },
      follow);
}

double log_likelihood_ratio(const replay::Recording& released, const replay::Recording& without,
                            const replay::Recording& with) {
  const std::size_t queries =
      std::min({released.queries.size(), without.queries.size(), with.queries.size()});
  long double sum = 0;
  for (std::size_t t = 0; t < queries; ++t) {
    const replay::QueryRecord &r = released.queries[t], &q0 = without.queries[t],
                              &q1 = with.queries[t];
    if (r.result.size() != q0.values.size() || r.result.size() != q1.values.size() ||
        !(r.scale > 0))
      continue;
    const bool normal = r.mechanism.find("gaussian") != std::string::npos,
               by_norm = r.mechanism.find("laplace") != std::string::npos || r.mechanism == "norm";
    if (!normal && !by_norm) continue;
    const Norm norm = normal ? Norm::l2 : r.norm;
    const long double before = replay::norm_of_difference(r.result, q0.values, norm),
                      after = replay::norm_of_difference(r.result, q1.values, norm);
    sum += normal ? (before - after) * (before + after) / (2.0L * r.scale * r.scale)
                  : (before - after) / r.scale;
  }
  return std::isfinite(sum) ? static_cast<double>(std::clamp(sum, -1e9L, 1e9L)) : 0;
}

}  // namespace sotto::cli
