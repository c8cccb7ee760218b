#include "sotto/accounting/composition/detail/selection_profile.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/renyi/detail/renyi_selection.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr int kCells = 1500, kLooks = 64, kNodes = 40;
constexpr double kSlack = 1e-6;  // on weights: more than sums of rounded slopes lose
constexpr double kHair = 1e-9;   // on shifts, likewise
// Beyond these nothing is said: e^c and its chords would overflow, and other bounds are as good.
constexpr double kLargestChange = 40, kLargestMean = 1e9, kLargestOdds = 1e15;

// ψ and ln(ψ(s)/ψ(f)) of a law of K, rounded up. The law that is drawn may have a parameter γ that
// is larger by a relative 1e-8 and a smaller mean: ψ is computed for the largest γ, the ratio for
// the smallest.
struct Slope {
  bool poisson;
  double mean, shape = 0, odds = 0, odds_low = 0;  // (1 − γ)/γ

  explicit Slope(const PrivateSelectionEvent& e)
      : poisson(e.distribution == SelectionDistribution::poisson), mean(e.mean) {
    if (poisson) return;
    shape = e.shape;
    odds = widen_up(std::expm1(truncated_negative_binomial_cost(e.shape, e.mean)), 8 * kUlp);
    odds_low = std::max(0.0, odds * (1 - 1e-6) - 1e-7);
  }
  bool in_range() const { return mean <= kLargestMean && odds <= kLargestOdds; }
  double at(double s) const {
    const double falls =
        poisson ? std::exp(-mean * s) : std::exp(-(1 + shape) * std::log1p(odds_low * s));
    return mean * std::min(1.0, falls * (1 + kHair));
  }
  // The end of the i-th cell: ψ falls by about the same factor in each.
  double cell_end(int i) const {
    const double share = static_cast<double>(i + 1) / kCells;
    if (i + 1 == kCells) return 1;
    return poisson || odds < 1e-6 ? share : std::expm1(share * std::log1p(odds)) / odds;
  }
  double change(double s, double f) const {
    const double c =
        poisson ? mean * (f - s) : (1 + shape) * (std::log1p(odds * f) - std::log1p(odds * s));
    return std::max(0.0, c) + kHair;
  }
};

// The largest probability on a neighbour of what has probability s: s' ≤ e^ε·s + δ, and
// 1 − s ≤ e^ε(1 − s') + δ.
struct Neighbour {
  std::vector<std::pair<double, double>> pairs;  // ε, δ

  explicit Neighbour(const std::function<double(double)>& profile) {
    double last = 1e-4;
    while (last < 40 && profile(last) > 1e-12) last *= 2;
    for (int i = 0; i <= kLooks; ++i) {
      const double share = static_cast<double>(i) / kLooks;
      pairs.emplace_back(last * share * share, profile(last * share * share));
    }
  }
  double operator()(double s) const {
    double most = 1;
    for (const auto& [epsilon, delta] : pairs) {
      most = std::min(most, std::exp(epsilon) * s + delta);
      most = std::min(most, 1 - std::max(0.0, 1 - s - delta) * std::exp(-epsilon));
    }
    return std::min(1.0, widen_up(most, 1e-12) + 1e-15);
  }
};

// max_s ψ(s)·(1 − e^(−c(s))·w)₊
class Envelope {
 public:
  Envelope(const PrivateSelectionEvent& selection, const Neighbour& neighbour) {
    const Slope slope(selection);
    if (!slope.in_range()) return;
    double s = 0;
    for (int i = 0; i < kCells; ++i) {
      const double end = slope.cell_end(i), change = slope.change(s, neighbour(end));
      if (!(change <= kLargestChange)) return;
      lines_.push_back({slope.at(s), std::exp(-change)});
      end_ = std::max(end_, std::exp(change));
      s = end;
    }
    known_ = true;
  }
  bool known() const { return known_; }
  double end() const { return end_; }  // 0 from here on
  double operator()(double w) const {
    double most = 0;
    for (const Line& line : lines_) most = std::max(most, line.start * (1 - line.slope * w));
    return most;
  }

 private:
  struct Line {
    double start, slope;
  };
  std::vector<Line> lines_;
  double end_ = 0;
  bool known_ = false;
};

}  // namespace

SelectionProfile::SelectionProfile(const PrivateSelectionEvent& selection,
                                   std::function<double(double)> profile)
    : profile_(std::move(profile)) {
  const Envelope envelope(selection, Neighbour(profile_));
  known_ = envelope.known();
  if (!known_) return;
  // Chords lie above a convex function.
  std::vector<double> nodes = {0};
  for (const double more : {8., 4., 2., 1.5}) nodes.push_back(envelope.end() * std::exp(-more));
  for (int i = kNodes; i >= 0; --i)
    nodes.push_back(envelope.end() * std::exp(-static_cast<double>(i) / kNodes));
  double slope_after = 0;
  for (std::size_t k = nodes.size() - 1; k > 0; --k) {
    const double right = k + 1 == nodes.size() ? 0 : envelope(nodes[k]);
    const double slope = (envelope(nodes[k - 1]) - right) / (nodes[k] - nodes[k - 1]);
    const double weight = (slope - slope_after) * nodes[k];
    slope_after = slope;
    if (!std::isfinite(weight)) known_ = false;
    if (weight > 0) terms_.push_back({weight * (1 + kSlack), std::log(nodes[k]) + kHair});
  }
}

// E(1 − e^ε·v)₊ at a negative ε is that of the other direction at −ε, and what lies between.
double SelectionProfile::of_one(double epsilon) const {
  if (epsilon >= 0) return profile_(epsilon);
  const double scale = std::exp(epsilon);
  return std::min(1.0, widen_up(-std::expm1(epsilon) + scale * profile_(-epsilon), 1e-13));
}

double SelectionProfile::delta(double epsilon) const {
  if (!known_) return 1;
  double sum = 0;
  for (const Term& term : terms_) sum += term.weight * of_one(epsilon - term.shift);
  return widen_up(sum, 1e-12);
}

double SelectionProfile::epsilon(double delta) const {
  if (!known_ || !(delta > 0)) return kInfinity;
  const auto excess = [&](double eps) {
    return std::log(std::max(this->delta(eps), 1e-300) / delta);
  };
  double high = 1e-3;
  if (excess(0) <= 0) return 0;
  while (excess(high) > 0)
    if ((high *= 2) > 1e5) return kInfinity;
  return narrow(excess, high == 1e-3 ? 0 : high / 2, high, 1e-7).high;
}

}  // namespace sotto
