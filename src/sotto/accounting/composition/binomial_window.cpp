#include "sotto/accounting/composition/detail/binomial_window.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// An index k below (above) which Bin(n, p) has probability at most kTail.
std::uint64_t chernoff_edge(std::uint64_t n, double p, bool below) {
  const auto dn = static_cast<double>(n);
  const auto rare = [&](std::uint64_t k) {
    const double x = static_cast<double>(k) / dn;
    const double kl =
        (x > 0 ? x * std::log(x / p) : 0) + (x < 1 ? (1 - x) * std::log((1 - x) / (1 - p)) : 0);
    return dn * kl > -std::log(kTail);
  };
  const auto mean = static_cast<std::uint64_t>(dn * p);
  std::uint64_t a = below ? 0 : std::min(n, mean + 1), b = below ? mean : n;
  if (below) {  // first k that is not rare
    while (a < b) {
      const std::uint64_t m = a + (b - a) / 2;
      if (rare(m))
        a = m + 1;
      else
        b = m;
    }
    return a;
  }
  while (a < b) {  // last k that is not rare
    const std::uint64_t m = a + (b - a + 1) / 2;
    if (rare(m))
      b = m - 1;
    else
      a = m;
  }
  return a;
}

}  // namespace

BinomialWindow binomial_window(std::uint64_t n, double p) {
  if (n == 0 || p <= 0) return {0, 0};
  if (p >= 1) return {n, n};
  return {chernoff_edge(n, p, true), chernoff_edge(n, p, false)};
}

}  // namespace sotto
