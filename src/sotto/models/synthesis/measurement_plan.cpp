#include "sotto/models/synthesis/detail/measurement_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/level_groups.hpp"
#include "sotto/models/synthesis/detail/markov_model.hpp"

namespace sotto {
namespace {

constexpr double kMeanAbsolute = 0.7978845608028654;  // E|Z| of a standard normal
constexpr double kPaidForImportance = 0.005;  // of all errors: what important pairs may cost
constexpr double kPaidForTriples = 0.03;      // of the errors of pairs: what triples may cost
constexpr double kHardlyAnything = 0.001;     // of the records, of each pair: the same
constexpr double kLeastOfTriples = 0.05;      // of their importance
// Columns outside of the tree may still get other levels.
constexpr double kMostOfTree =
    MarkovModel::kMostCells - ColumnLevels::kMostCategories * CellColumns::kMostColumns;
constexpr int kRounds = 40;
constexpr double kLeastShare = 1e-9;

class Planner {
 public:
  Planner(const MeasurementFacts& facts, const std::vector<PairCandidate>& candidates,
          const std::vector<TripleCandidate>& triples)
      : facts_(facts), candidates_(candidates), triples_(triples) {
    const std::size_t d = facts.levels.size();
    unmeasured_.assign(d * d, {facts.unknown, 1});
    for (const PairCandidate& c : candidates)
      unmeasured_[c.columns.first * d + c.columns.second] = {c.dependence, c.importance};
  }

  // The candidates in the order in which they are taken, those left out that the tree cannot have.
  std::vector<std::size_t> order() const {
    const double usual =
        noise_of(1 / static_cast<double>(std::max<std::size_t>(1, facts_.levels.size())));
    std::vector<std::size_t> all(candidates_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto promise = [&](std::size_t i) {
      const PairCandidate& c = candidates_[i];
      return c.importance * (c.dependence - kMeanAbsolute * usual * c.cells);
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return promise(a) > promise(b); });
    std::vector<std::size_t> kept;
    std::vector<ColumnPair> edges;
    for (const std::size_t i : all) {
      if (kept.size() >= facts_.most) break;
      edges.push_back(candidates_[i].columns);
      if (junction_cells(facts_.levels, edges) > kMostOfTree)
        edges.pop_back();
      else
        kept.push_back(i);
    }
    return kept;
  }

  // Triples in the order in which they are taken, those that the tree cannot have beside these
  // pairs left out.
  std::vector<std::size_t> triples_beside(std::span<const std::size_t> pairs) const {
    std::vector<std::size_t> all(triples_.size()), kept;
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      return triples_[a].dependence > triples_[b].dependence;
    });
    std::vector<ColumnPair> edges;
    for (const std::size_t i : pairs) edges.push_back(candidates_[i].columns);
    for (const std::size_t i : all) {
      std::vector<ColumnPair> more = edges;
      add_edges(triples_[i].columns, more);
      if (junction_cells(facts_.levels, more) > kMostOfTree) continue;
      edges = std::move(more);
      kept.push_back(i);
    }
    return kept;
  }

  // The best shares for these pairs and triples, and the error that they leave. part: of the
  // importance of triples that counts when budget is shared out.
  struct Error {
    double weighed = 0, plain = 0;  // by importance; as if all were as important
  };
  Error best(std::span<const std::size_t> pairs, std::span<const std::size_t> triples,
             MeasurementPlan& plan, double part = 1) const {
    const std::size_t d = facts_.levels.size(), m = pairs.size(), all = d + m + triples.size();
    std::vector<double> share(all, 1 / static_cast<double>(all)), gain(all);
    std::vector<bool> measured(d * d);
    for (const std::size_t i : pairs)
      measured[candidates_[i].columns.first * d + candidates_[i].columns.second] = true;
    Error error;
    for (int round = 0; round <= kRounds; ++round) {
      std::fill(gain.begin(), gain.end(), 0.0);
      error.weighed = error_of(pairs, measured, share, gain, error.plain);
      error.weighed += error_of_triples(triples, std::span(share).subspan(d + m),
                                        std::span(gain).subspan(d + m), part);
      if (round == kRounds) break;
      double total = 0;
      for (std::size_t k = 0; k < share.size(); ++k)
        total += share[k] = std::max(kLeastShare, share[k] * std::sqrt(gain[k]));
      for (double& s : share) s /= total;
    }
    plan.pairs.assign(pairs.begin(), pairs.end());
    plan.column_share.assign(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(d));
    const auto rest = share.begin() + static_cast<std::ptrdiff_t>(d + m);
    plan.pair_share.assign(share.begin() + static_cast<std::ptrdiff_t>(d), rest);
    plan.triples.assign(triples.begin(), triples.end());
    plan.triple_share.assign(rest, share.end());
    return error;
  }

 private:
  struct Unmeasured {
    double dependence, importance;
  };
  double noise_of(double share) const {
    return facts_.noise / (facts_.laplace ? share : std::sqrt(share));
  }
  // Squared: what chance left between records of finer bins than levels, which nothing mends.
  double floor(const ColumnPair& pair) const {
    const auto [a, b] = pair;
    const double bins = facts_.bins[a] * facts_.bins[b];
    const double levels = static_cast<double>(facts_.levels[a]) * facts_.levels[b];
    return std::pow(kMeanAbsolute, 2) * facts_.records * std::max(0.0, bins - levels);
  }
  // What 1/noise² is, and its slope in the share.
  double precision(double share) const {
    return (facts_.laplace ? share * share : share) / (facts_.noise * facts_.noise);
  }
  double slope(double share) const {
    return (facts_.laplace ? 2 * share : 1) / (facts_.noise * facts_.noise);
  }

  double error_of(std::span<const std::size_t> pairs, const std::vector<bool>& measured,
                  const std::vector<double>& share, std::vector<double>& gain,
                  double& plain) const {
    const std::size_t d = facts_.levels.size();
    // Of a column: its levels, which pairs count too, and what is inside of them.
    std::vector<double> inside(d), known(d), square(d), square_inside(d), need(d), need_inside(d);
    for (std::size_t j = 0; j < d; ++j)
      known[j] = inside[j] = 1 / (facts_.deviation[j] * facts_.deviation[j]) + precision(share[j]);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto [a, b] = candidates_[pairs[k]].columns;
      known[a] += precision(share[d + k]) / facts_.levels[b];
      known[b] += precision(share[d + k]) / facts_.levels[a];
    }
    for (std::size_t j = 0; j < d; ++j) {
      const double one = std::pow(kMeanAbsolute * facts_.cells[j], 2);
      square[j] = one / known[j];
      square_inside[j] = one / inside[j];
    }
    double error = 0;
    plain = 0;
    // The root of all squared errors, and what knowing a and b better would gain.
    const auto add = [&](const ColumnPair& pair, double own, bool levels, double importance) {
      const auto [a, b] = pair;
      const double far = std::sqrt(own + floor(pair) + square_inside[a] + square_inside[b] +
                                   (levels ? square[a] + square[b] : 0));
      error += importance * far;
      plain += far;
      for (const std::uint32_t j : {a, b}) {
        need_inside[j] += importance * square_inside[j] / (2 * far * inside[j]);
        if (levels) need[j] += importance * square[j] / (2 * far * known[j]);
      }
      return far;
    };
    for (std::uint32_t a = 0; a < d; ++a) {
      for (std::uint32_t b = a + 1; b < d; ++b) {
        const Unmeasured& u = unmeasured_[a * d + b];
        if (!measured[a * d + b]) add({a, b}, u.dependence * u.dependence, true, u.importance);
      }
    }
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const PairCandidate& c = candidates_[pairs[k]];
      const double p = precision(share[d + k]), own = std::pow(kMeanAbsolute * c.cells, 2) / p;
      const double far = add(c.columns, own, false, c.importance);
      gain[d + k] += c.importance * own / (2 * far * p) * slope(share[d + k]);
    }
    for (std::size_t j = 0; j < d; ++j) gain[j] += (need[j] + need_inside[j]) * slope(share[j]);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto [a, b] = candidates_[pairs[k]].columns;
      gain[d + k] +=
          (need[a] / facts_.levels[b] + need[b] / facts_.levels[a]) * slope(share[d + k]);
    }
    return error;
  }

  // Of a triple: what it holds beyond pairs where it is not counted, the noise of its cells where
  // it is. What it says about its pairs and columns is not asked for.
  double error_of_triples(std::span<const std::size_t> triples, std::span<const double> share,
                          std::span<double> gain, double part) const {
    double error = 0;
    for (const TripleCandidate& t : triples_) error += t.importance * t.dependence;
    for (std::size_t k = 0; k < triples.size(); ++k) {
      const TripleCandidate& t = triples_[triples[k]];
      const double p = precision(share[k]), own = kMeanAbsolute * t.cells / std::sqrt(p);
      error += t.importance * (own - t.dependence);
      gain[k] += part * t.importance * own / (2 * p) * slope(share[k]);
    }
    return error;
  }

  const MeasurementFacts& facts_;
  const std::vector<PairCandidate>& candidates_;
  const std::vector<TripleCandidate>& triples_;
  std::vector<Unmeasured> unmeasured_;
};

}  // namespace

MeasurementPlan planned_measurements(const MeasurementFacts& facts,
                                     const std::vector<PairCandidate>& candidates,
                                     const std::vector<TripleCandidate>& triples) {
  Planner planner(facts, candidates, triples);
  const std::vector<std::size_t> order = planner.order();
  MeasurementPlan best, tried;
  double least = 0, allowed = 0, plain = 0;
  for (std::size_t m = 0;;) {
    const Planner::Error error = planner.best(std::span(order).first(m), {}, tried);
    if (m == 0) allowed = (1 + kPaidForImportance) * error.plain;
    if (m == 0 || (error.weighed < least && error.plain <= allowed))
      least = error.weighed, plain = error.plain, std::swap(best, tried);
    if (m == order.size()) break;
    m = std::min(order.size(), m + 1 + m / 8);
  }
  // Then triples beside these pairs, each with as much as makes the pairs no worse than allowed.
  const double columns = static_cast<double>(facts.levels.size());
  const double most =
      (1 + kPaidForTriples) * plain + kHardlyAnything * facts.records * columns * (columns - 1) / 2;
  const std::vector<std::size_t> pairs = best.pairs, beside = planner.triples_beside(pairs);
  for (std::size_t k = 1; k <= beside.size(); ++k) {
    for (double part = 1; part >= kLeastOfTriples; part /= 2) {
      const Planner::Error error = planner.best(pairs, std::span(beside).first(k), tried, part);
      if (error.plain > most) continue;
      if (error.weighed < least) least = error.weighed, std::swap(best, tried);
      break;
    }
  }
  return best;
}

}  // namespace sotto
