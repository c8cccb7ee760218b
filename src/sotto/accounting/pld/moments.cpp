#include "sotto/accounting/pld/moments.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sotto {
namespace {

// A fine lattice has a hundred thousand atoms. For an estimate a few thousand will do, each the
// mean of a few neighbours that are close.
void thin_out(std::vector<LossNode>& nodes) {
  constexpr std::size_t kEnough = 1 << 13;
  if (nodes.size() <= 2 * kEnough) return;
  std::ranges::sort(nodes, {}, &LossNode::loss);
  const std::size_t most = nodes.size() / kEnough;
  const double close = (nodes.back().loss - nodes.front().loss) / kEnough;
  std::vector<LossNode> thin;
  for (std::size_t i = 0; i < nodes.size();) {
    const double from = nodes[i].loss;
    double p = 0, above = 0;
    for (std::size_t k = 0; k < most && i < nodes.size() && nodes[i].loss - from <= close; ++k, ++i)
      p += nodes[i].p, above += nodes[i].p * (nodes[i].loss - from);
    thin.push_back({from + above / p, p});
  }
  nodes = std::move(thin);
}

}  // namespace

void LossMoments::add(std::vector<LossNode> nodes, std::uint64_t count) {
  std::erase_if(nodes, [](const LossNode& n) { return !(n.p > 0); });
  thin_out(nodes);
  for (const LossNode& n : nodes) {
    largest_ = std::max(largest_, n.loss);
    largest_reverse_ = std::max(largest_reverse_, -n.loss);
  }
  nodes_.push_back(std::move(nodes));
  counts_.push_back(static_cast<double>(count));
}

Saddle LossMoments::at(double theta, bool reverse) const {
  // The swapped pair has loss −L under Q = e^{−L}P: its moment of order θ is that of order −1−θ
  // here.
  const double order = reverse ? -1 - theta : theta;
  double k = 0, mean = 0, variance = 0;
  for (std::size_t g = 0; g < nodes_.size(); ++g) {
    double top = -1e308;
    for (const LossNode& n : nodes_[g]) top = std::max(top, order * n.loss);
    top = std::min(top, 600.0) == top && top > -600 ? 0 : top;
    double m0 = 0, m1 = 0, m2 = 0;
    for (const LossNode& n : nodes_[g]) {
      const double w = n.p * std::exp(order * n.loss - top);
      m0 += w;
      m1 += w * n.loss;
      m2 += w * n.loss * n.loss;
    }
    if (!(m0 > 0)) continue;
    m1 /= m0;
    k += counts_[g] * (std::log(m0) + top);
    mean += counts_[g] * m1;
    variance += counts_[g] * std::max(0.0, m2 / m0 - m1 * m1);
  }
  if (reverse) mean = -mean;
  Saddle s{theta, mean, std::sqrt(variance), k, 0};
  s.log_delta = std::min(
      0.0, k - theta * mean -
               std::log1p(theta * (1 + theta) * std::sqrt(2 * std::numbers::pi * variance)));
  return s;
}

template <class Reached>
Saddle LossMoments::search(bool reverse, const Reached& reached) const {
  double low = std::log(1e-6),
         high = std::log(std::clamp(500 / (reverse ? largest_reverse_ : largest_), 1e-3, 1e13));
  Saddle best = at(std::exp(high), reverse);
  if (!reached(best)) {
    // Bounded losses: the tail ends before it is reached. Stop where nothing is gained any more.
    const auto exponent = [](const Saddle& s) {
      return s.log_moment - s.theta * s.epsilon;
    };  // falls with θ
    const double end = exponent(best);
    const auto flat = [&](const Saddle& s) { return exponent(s) <= end + 0.05; };
    for (int i = 0; i < 24; ++i) {
      const double mid = 0.5 * (low + high);
      const Saddle s = at(std::exp(mid), reverse);
      (flat(s) ? high : low) = mid;
      if (flat(s)) best = s;
    }
    return best;
  }
  for (int i = 0; i < 24 && high - low > 0.01; ++i) {
    const double mid = 0.5 * (low + high);
    const Saddle s = at(std::exp(mid), reverse);
    if (reached(s)) {
      high = mid;
      best = s;
    } else {
      low = mid;
    }
  }
  return best;
}

Saddle LossMoments::for_delta(double delta, bool reverse) const {
  const double target = std::log(delta);
  Saddle s = search(reverse, [&](const Saddle& x) { return x.log_delta <= target; });
  if (s.epsilon < 0) return for_epsilon(0, reverse);
  // Losses of very different sizes: the mean of the tilted total may lie far above ε, Chernoff's
  // bound does not.
  const double t = s.theta,
               chernoff = (s.log_moment - target + t * std::log(t) - (1 + t) * std::log1p(t)) / t;
  s.epsilon = std::clamp(chernoff, 0.0, s.epsilon);
  return s;
}

Saddle LossMoments::for_epsilon(double epsilon, bool reverse) const {
  return search(reverse, [&](const Saddle& x) { return x.epsilon >= epsilon; });
}

double LossMoments::gentle_tilt(const Saddle& saddle, double epsilon, double log_delta,
                                double tolerance, bool reverse) const {
  const double margin = std::clamp(11 + std::log(tolerance / 1e-4), 4.0, 11.0);
  for (double factor : {0.25, 0.4, 0.55, 0.7, 0.85}) {
    const double theta = factor * saddle.theta;
    if (at(theta, reverse).log_moment - theta * epsilon <= log_delta + margin) return theta;
  }
  return saddle.theta;
}

}  // namespace sotto
