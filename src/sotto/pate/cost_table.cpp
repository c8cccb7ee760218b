#include "sotto/pate/detail/cost_table.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/pate/two_classes.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate {
namespace {

constexpr double kSlack = 1e-11;
constexpr double kSmallest = 1e-12;  // of a smooth sensitivity
constexpr std::uint64_t kExactTeachers = 4096;

double renyi_of_answer(const LabelOptions& o, double log_q, double order) {
  return o.aggregator == Aggregator::lnmax ? lnmax_renyi(log_q, o.sigma, order)
                                           : gnmax_renyi(log_q, o.sigma, order);
}

}  // namespace

// What an answer costs in each cell: q at its left end is the largest in it.
std::vector<double> CostTable::answers_by_q(double step) {
  const double others = std::log(static_cast<double>(options_.classes - 1));
  std::vector<double> answer(gaps_);
  log_q_.resize(gaps_);
  for (std::size_t k = 0; k < gaps_; ++k) {
    log_q_[k] = others + log_tail(options_, step * static_cast<double>(k));
    answer[k] = renyi_of_answer(options_, std::min(log_q_[k], 0.0), order_);
    if (k > 0) answer[k] = std::min(answer[k], answer[k - 1]);  // a larger q bounds it too
  }
  return answer;
}

// A cell is one lead. The least function above that does not rise with the lead.
std::vector<double> CostTable::answers_by_lead() const {
  std::vector<double> answer = two_class_renyi(options_, order_);
  for (std::size_t k = gaps_ - 1; k-- > 0;) answer[k] = std::max(answer[k], answer[k + 1]);
  return answer;
}

CostTable::CostTable(const LabelOptions& options, double order)
    : options_(options), order_(order), by_lead_(has_exact_costs(options)) {
  const bool two = has_threshold(options.aggregator);
  const double n = static_cast<double>(options.teachers);
  const double step = std::max(two ? 1.0 / 4 : 1.0 / 32, n / (two ? 1024 : 16384));
  gaps_ = static_cast<std::size_t>(std::ceil(by_lead_ ? n : n / step)) + 2;
  per_move_ = by_lead_ ? 2 : static_cast<std::size_t>(std::ceil(2 / step)) + 1;
  const std::vector<double> answer = by_lead_ ? answers_by_lead() : answers_by_q(step);
  if (two) {
    const auto teachers = static_cast<std::int64_t>(options.teachers);
    lowest_ = options.aggregator == Aggregator::interactive ? -teachers : 0;
    const std::int64_t range = teachers - lowest_ + 1;
    wide_ = (range + 511) / 512;
    margins_ = static_cast<std::size_t>((range + wide_ - 1) / wide_);
  }
  cost_.resize(margins_ * gaps_);
  for (std::size_t i = 0; i < margins_; ++i) {
    double likely = 1, fixed = 0;
    if (two) {
      const auto top = static_cast<double>(lowest_ + static_cast<std::int64_t>(i + 1) * wide_ - 1);
      const double s = options.sigma_threshold;
      likely = std::min(
          1.0,
          widen_up(normal_sf((options.threshold - top - (order - 1) - kVoteStep) / s), kSlack));
      fixed = widen_up(order / (2 * s * s), 8 * kUlp);
    }
    for (std::size_t k = 0; k < gaps_; ++k) {
      const double whole = answer[k];
      const double expected =
          two ? std::log1p(likely * std::expm1((order - 1) * whole)) / (order - 1) : whole;
      cost_[i * gaps_ + k] = two ? fixed + widen_up(std::min(expected, whole), kSlack) : whole;
    }
  }
  rise_.resize(cost_.size());
  for (std::size_t i = 0; i < margins_; ++i)
    for (std::size_t k = 0; k < gaps_; ++k) rise_[i * gaps_ + k] = rise(i, k);
}

double CostTable::rise(std::size_t margin, std::size_t gap) const {
  const double up = at(std::min(margin + 1, margins_ - 1), gap > per_move_ ? gap - per_move_ : 0);
  return std::max(0.0, up - at(margin, gap));
}

CostTable::Place CostTable::place(std::span<const std::int64_t> counts, std::int64_t margin) {
  Place p{margin, {counts.begin(), counts.end()}};
  std::sort(p.counts.begin(), p.counts.end(), std::greater<>());
  return p;
}

double CostTable::log_q(std::span<const std::int64_t> sorted) const {
  return options_.aggregator == Aggregator::lnmax
             ? log_q_laplace(sorted, options_.sigma, kVoteStep)
             : log_q_gaussian(sorted, options_.sigma, kVoteStep);
}

std::size_t CostTable::gap_cell(std::span<const std::int64_t> sorted) const {
  if (by_lead_) return static_cast<std::size_t>(sorted[0] - sorted[1]);
  const double log_q = this->log_q(sorted);
  // The last cell whose left end has at least this q.
  const double least = log_q + kSlack * (1 + std::abs(log_q));
  const auto beyond = std::partition_point(log_q_.begin(), log_q_.end(),
                                           [&](double left) { return left >= least; });
  return beyond == log_q_.begin() ? 0 : static_cast<std::size_t>(beyond - log_q_.begin()) - 1;
}

std::size_t CostTable::margin_cell(std::int64_t margin) const {
  if (margins_ == 1) return 0;
  const std::int64_t cell = (margin - lowest_) / wide_;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(cell, 0, static_cast<std::int64_t>(margins_) - 1));
}

double CostTable::cost(const Place& place) const {
  return at(margin_cell(place.margin), gap_cell(place.counts));
}

double CostTable::worst() const { return *std::max_element(cost_.begin(), cost_.end()); }

void CostTable::add_sensitivities(const Place& place, std::span<double> distances) const {
  const std::size_t gap = gap_cell(place.counts), margin = margin_cell(place.margin);
  std::vector<std::int64_t> nearest = place.counts;
  // Cells seen so far, and the largest rise among them.
  std::size_t low = gap, high = gap, first = margin, last = margin;
  double largest = rise_[margin * gaps_ + gap];
  const auto look = [&](std::size_t i0, std::size_t i1, std::size_t k0, std::size_t k1) {
    for (std::size_t i = i0; i <= i1; ++i)
      for (std::size_t k = k0; k <= k1; ++k) largest = std::max(largest, rise_[i * gaps_ + k]);
  };
  for (std::size_t d = 0; d < distances.size(); ++d) {
    // The smallest gap within d votes: d votes go from the first to the second class.
    std::size_t to_low = 0;
    if (options_.teachers <= kExactTeachers) {
      if (d > 0) --nearest[0], ++nearest[1];
      if (nearest[0] > nearest[1]) to_low = gap_cell(nearest);
    } else if (gap > (d + 1) * per_move_) {
      to_low = gap - (d + 1) * per_move_;
    }
    to_low = std::min(to_low, low);
    const std::size_t to_high = std::min(gaps_ - 1, gap + (d + 1) * per_move_);
    // Cells of margins, not margins of cells: what d votes reach from here, d + 1 votes must reach
    // from every neighbour, also where a cell holds several margins.
    const auto votes = static_cast<std::int64_t>(d) + 1;
    const std::size_t to_first = margin_cell(place.margin - votes);
    const std::size_t to_last = margin_cell(place.margin + votes);
    if (to_low < low) look(first, last, to_low, low - 1);
    if (to_high > high) look(first, last, high + 1, to_high);
    low = to_low, high = to_high;
    if (to_first < first) look(to_first, first - 1, low, high);
    if (to_last > last) look(last + 1, to_last, low, high);
    first = to_first, last = to_last;
    distances[d] += largest;
  }
}

CostOfVotes cost_of_votes(const CostTable& table, const LabelPlan& plan, const Votes& votes,
                          const std::vector<double>* student) {
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(votes.teachers, std::uint64_t{1} << 20));
  const std::size_t queries = votes.queries(), blocks = std::min<std::size_t>(queries, 16);
  std::vector<CostOfVotes> parts(blocks);
  parallel_blocks(blocks, 0, [&](std::size_t b, unsigned) {
    parts[b].distances.assign(n + 1, 0.0);
    for (std::size_t i = queries * b / blocks; i < queries * (b + 1) / blocks; ++i) {
      const auto p = CostTable::place(votes.row(i), plan.margin(votes, i, student));
      parts[b].renyi += table.cost(p);
      table.add_sensitivities(p, parts[b].distances);
    }
  });
  CostOfVotes sum;
  sum.distances.assign(n + 1, 0.0);
  for (const CostOfVotes& part : parts) {
    sum.renyi += part.renyi;
    for (std::size_t d = 0; d <= n; ++d) sum.distances[d] += part.distances[d];
  }
  sum.renyi = widen_up(sum.renyi, kSlack);
  return sum;
}

double smooth_sensitivity(std::span<const double> distances, double beta) {
  double largest = kSmallest;
  for (std::size_t d = 0; d < distances.size(); ++d)
    largest = std::max(largest, std::exp(-beta * static_cast<double>(d)) * distances[d]);
  return widen_up(largest, 1e-9);
}

}  // namespace sotto::pate
