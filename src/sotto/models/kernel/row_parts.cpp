#include "sotto/models/kernel/detail/row_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {
namespace {
constexpr double kByWorth = 0.7;  // the rest as before: what a trial saw is not all there is
}

FeatureSizes shared_by_worth(const FeatureMap& map,
                             const std::vector<std::vector<double>>& parameters, double noise) {
  FeatureSizes sizes = map.design().sizes;
  if (sizes.fourier == 0 || sizes.trees == 0) return sizes;
  struct RowPart {
    double* length;
    std::size_t size;
    double worth = 0;
  };
  std::array<RowPart, 3> parts = {RowPart{&sizes.main, map.main().size()},
                                  {&sizes.fourier_part, map.fourier()},
                                  {&sizes.tree_part, map.leaves().size()}};
  double total = 0;
  std::size_t first = 1;  // after the intercept
  for (RowPart& part : parts) {
    for (const std::vector<double>& theta : parameters)
      for (std::size_t c = first; c < first + part.size; ++c)
        part.worth += theta[c] * theta[c] - noise * noise;
    part.worth = *part.length > 0 ? std::max(0.0, part.worth) / *part.length : 0;
    total += part.worth;
    first += part.size;
  }
  if (!(total > 0) || !std::isfinite(total)) return sizes;
  for (const RowPart& part : parts)
    *part.length = (1 - kByWorth) * *part.length + kByWorth * part.worth / total;
  return sizes;
}

}  // namespace sotto
