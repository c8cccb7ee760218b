#include "sotto/models/boosting/detail/tree_choice.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/gaussian_draw.hpp"

namespace sotto {
namespace {

constexpr double kAgain = 0.3;         // an earlier set of columns
constexpr std::size_t kMostFound = 8;  // pairs that come first
constexpr double kByCredit = 0.6;      // of the drawing of new ones
constexpr double kForgetSet = 0.3, kForgetColumn = 0.2, kForgetWorth = 1.0 / 64;

// Which of the weights an even number in (0, Σ) falls on.
template <class Weights>
std::size_t drawn(const Weights& weights, double total, Rng& rng) {
  double left = even_draw(rng) * total;
  std::size_t i = 0, last = 0;
  for (const double w : weights) {
    if (w > 0) {
      last = i;
      if (left < w) return i;
      left -= w;
    }
    ++i;
  }
  return last;
}

// Σ of |G|² − s²·margins over H, over the leaves: the gain less what noise adds to it.
double net_gain(std::span<const double> squares, std::span<const double> variances,
                std::span<const double> weights) {
  double gain = 0;
  for (std::size_t l = 0; l < weights.size(); ++l) gain += (squares[l] - variances[l]) / weights[l];
  return gain;
}

}  // namespace

TreeChoice::TreeChoice(std::vector<double> shares, std::size_t leaves,
                       std::span<const PairCredit> found, double three)
    : shares_(std::move(shares)),
      drawn_by_(shares_),
      credit_(shares_.size()),
      leaves_(leaves),
      three_(three) {
  std::vector<PairCredit> pairs(found.begin(), found.end());
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const PairCredit& a, const PairCredit& b) { return a.credit > b.credit; });
  for (std::size_t i = std::min(pairs.size(), kMostFound); i > 0; --i)
    next_.push_back({pairs[i - 1].first, pairs[i - 1].second});
}

std::vector<std::uint32_t> TreeChoice::draw_columns(Rng& rng) {
  if (!next_.empty()) {
    std::vector<std::uint32_t> pair = std::move(next_.back());
    next_.pop_back();
    return pair;
  }
  if (even_draw(rng) < kAgain) {
    std::vector<double> weights;
    double total = 0;
    for (const auto& [columns, credit] : sets_) {
      weights.push_back(std::max(0.0, credit));
      total += weights.back();
    }
    if (total > 0) {
      auto set = sets_.begin();
      std::advance(set, drawn(weights, total, rng));
      return set->first;
    }
  }
  const double u = even_draw(rng);
  const std::size_t wanted = u >= 1 - three_ ? 3 : u < (1 - three_) / 3 ? 1 : 2;
  std::vector<double> weights = drawn_by_;
  std::vector<std::uint32_t> columns;
  while (columns.size() < std::min(wanted, weights.size())) {
    double total = 0;
    for (const double w : weights) total += w;
    const std::size_t j = drawn(weights, total, rng);
    columns.push_back(static_cast<std::uint32_t>(j));
    weights[j] = 0;
  }
  std::sort(columns.begin(), columns.end());
  return columns;
}

GridTree TreeChoice::draw(Rng& rng) {
  GridTree tree{.columns = draw_columns(rng)};
  // As many intervals in each column as fit, one more where there is room, from a random column on.
  const std::size_t m = tree.columns.size();
  std::size_t each = 1, product = 1;
  const auto power = [&](std::size_t base) {
    std::size_t p = 1;
    for (std::size_t i = 0; i < m; ++i) p *= base;
    return p;
  };
  while (power(each + 1) <= leaves_) ++each;
  product = power(each);
  std::vector<std::size_t> intervals(m, each);
  const std::size_t first = rng.next_u64() % m;
  for (std::size_t i = 0; i < m; ++i) {
    std::size_t& own = intervals[(first + i) % m];
    if (product / own * (own + 1) > leaves_) continue;
    product = product / own * (own + 1);
    ++own;
  }
  for (const std::size_t k : intervals) {
    std::vector<std::uint32_t> cuts;
    const double shift = even_draw(rng) - 0.5;
    for (std::size_t c = 1; c < k; ++c) {
      const double at = (static_cast<double>(c) + shift + (even_draw(rng) - 0.5) / 2) /
                        static_cast<double>(k) * static_cast<double>(kPlaces);
      cuts.push_back(
          static_cast<std::uint32_t>(std::clamp(at, 1.0, static_cast<double>(kPlaces - 1))));
    }
    std::sort(cuts.begin(), cuts.end());
    tree.cuts.push_back(std::move(cuts));
  }
  return tree;
}

double TreeChoice::worth() const {
  if (!(noise_ > 0)) return 1;
  const double found = std::max(0.0, found_);
  return found / (found + noise_);
}

void TreeChoice::learn(const GridTree& tree, std::span<const double> sums,
                       std::span<const double> weights, double noise) {
  const std::size_t leaves = weights.size(), margins = sums.size() / leaves;
  const double variance = noise * noise * static_cast<double>(margins);
  std::vector<double> squares(leaves), variances(leaves, variance);
  for (std::size_t i = 0; i < sums.size(); ++i) squares[i / margins] += sums[i] * sums[i];
  const double gain = net_gain(squares, variances, weights);
  double of_noise = 0;
  for (std::size_t l = 0; l < leaves; ++l) of_noise += variance / weights[l];
  found_ += kForgetWorth * (gain - found_);
  noise_ += kForgetWorth * (of_noise - noise_);
  const auto [set, fresh] = sets_.try_emplace(tree.columns, gain);
  if (!fresh) set->second += kForgetSet * (gain - set->second);

  std::size_t stride = leaves;
  for (std::size_t c = 0; c < tree.columns.size(); ++c) {
    const std::size_t intervals = tree.cuts[c].size() + 1;
    stride /= intervals;
    // Merged along this column: leaves that differ in its interval alone come together.
    const std::size_t merged = leaves / intervals;
    std::vector<double> all(merged * margins), w(merged), s(merged),
        v(merged, variance * static_cast<double>(intervals));
    for (std::size_t l = 0; l < leaves; ++l) {
      const std::size_t to = l / (stride * intervals) * stride + l % stride;
      w[to] += weights[l];
      for (std::size_t k = 0; k < margins; ++k) all[to * margins + k] += sums[l * margins + k];
    }
    for (std::size_t i = 0; i < all.size(); ++i) s[i / margins] += all[i] * all[i];
    double& credit = credit_[tree.columns[c]];
    credit += kForgetColumn * (gain - net_gain(s, v, w) - credit);
  }
  double total = 0;
  for (const double c : credit_) total += std::max(0.0, c);
  for (std::size_t j = 0; j < shares_.size(); ++j)
    drawn_by_[j] =
        total > 0 ? kByCredit * std::max(0.0, credit_[j]) / total + (1 - kByCredit) * shares_[j]
                  : shares_[j];
}

}  // namespace sotto
