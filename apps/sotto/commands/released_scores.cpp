#include "commands/released_scores.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sotto/audit/selection_law.hpp"

namespace sotto::cli {
namespace {

// ln P(what was chosen) from these scores; nothing where this was no selection among them.
std::optional<double> log_chance(const replay::QueryRecord& chosen,
                                 const std::vector<long double>& scores) {
  const bool exponential = chosen.mechanism == "exponential",
             flip = chosen.mechanism == "permute_and_flip" ||
                    chosen.mechanism == "noisy_max_geometric";
  if ((!exponential && !flip) || chosen.result.size() != 1 || !(chosen.scale > 0) ||
      !(chosen.result[0] >= 0 && chosen.result[0] < static_cast<long double>(scores.size())))
    return std::nullopt;
  // Gaps before division: scores may be large and close to each other.
  const long double best = *std::ranges::max_element(scores);
  std::vector<double> scaled;
  for (const long double s : scores)
    scaled.push_back(static_cast<double>((s - best) / static_cast<long double>(chosen.scale)));
  const auto at = static_cast<std::size_t>(chosen.result[0]);
  return exponential ? audit::log_exponential_law(scaled, at)
                     : audit::log_permute_and_flip_law(scaled, at);
}

}  // namespace

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
    if (q0.values.size() == q1.values.size()) {
      const std::optional<double> before = log_chance(r, q0.values),
                                  after = log_chance(r, q1.values);
      if (before && after) {
        sum += *after - *before;
        continue;
      }
    }
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
