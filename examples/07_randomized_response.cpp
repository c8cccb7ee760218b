// Nobody is trusted: each person noises the own answer, and the crowd's answer is estimated from
// the noise.
#include <fmt/core.h>

#include <vector>

#include "sotto/mechanisms/randomized_response.hpp"

int main() {
  using namespace sotto;

  const RandomizedResponse mechanism(Epsilon(1), /*categories=*/4);
  fmt::print("{}; the truth is told with probability {:.3f}\n", mechanism.describe(),
             mechanism.probability_of_truth());

  const int truth[] = {50000, 30000, 15000, 5000};
  std::vector<std::uint64_t> reports(4);
  Rng rng;
  for (std::uint64_t category = 0; category < 4; ++category) {
    for (int i = 0; i < truth[category]; ++i) ++reports[mechanism.run(category, rng).value];
  }
  const std::vector<double> estimate = mechanism.estimate(reports);
  for (int c = 0; c < 4; ++c) {
    fmt::print("category {}: {} in truth, {} reports, estimate {:.0f} ± {:.0f}\n", c, truth[c],
               reports[c], estimate[c], mechanism.estimate_deviation(100000));
  }
}
