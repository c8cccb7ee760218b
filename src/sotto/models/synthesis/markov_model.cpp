#include "sotto/models/synthesis/detail/markov_model.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/models/synthesis/detail/systematic.hpp"

namespace sotto {
namespace {

constexpr std::size_t kWorthThreads = 1 << 16;  // cells
constexpr double kEnough = 1e-5;  // a fall of the loss in kWindow steps that ends the fit
constexpr std::uint64_t kWindow = 20;
constexpr double kMostPotential = 1e6;  // e to its power is next to nothing, or all
constexpr double kMomentum = 0.95;
constexpr double kLonger = 1.05;  // a step that went well makes the next one longer

}  // namespace

std::size_t cells_of_groups(const LevelGrouping& groups) {
  std::size_t cells = 1;
  for (const std::vector<std::uint32_t>& g : groups)
    cells *= std::size_t{*std::max_element(g.begin(), g.end())} + 1;
  return cells;
}

std::vector<std::uint32_t> grouped_cells(const LevelGrouping& groups) {
  if (groups.empty()) return {};
  std::vector<std::uint32_t> cells = {0};
  for (const std::vector<std::uint32_t>& g : groups) {
    const std::uint32_t width = *std::max_element(g.begin(), g.end()) + 1;
    std::vector<std::uint32_t> finer;
    for (const std::uint32_t cell : cells)
      for (const std::uint32_t group : g) finer.push_back(cell * width + group);
    cells = std::move(finer);
  }
  return cells;
}

MarkovModel::MarkovModel(std::vector<std::uint32_t> levels,
                         std::vector<std::vector<std::uint32_t>> terms,
                         const std::vector<LevelGrouping>& groups)
    : levels_(std::move(levels)) {
  if (!groups.empty() && groups.size() != terms.size())
    throw InvalidArgument("groups of other terms");
  std::vector<ColumnPair> edges;
  for (const auto& columns : terms) {
    if (columns.empty() || columns.back() >= levels_.size() ||
        std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) != columns.end())
      throw InvalidArgument("a term of the model names columns that are none");
    add_edges(columns, edges);
  }
  if (junction_cells(levels_, edges) > kMostCells)
    throw InvalidArgument("the cliques of the model have too many cells");
  tree_ = junction_tree(levels_, edges);
  for (const JunctionTree::Clique& clique : tree_.cliques) {
    const bool root = clique.parent == JunctionTree::kNone;
    shared_.push_back(projection(clique.columns, clique.shared));
    above_.push_back(root ? Projection{}
                          : projection(tree_.cliques[clique.parent].columns, clique.shared));
    const Projection& p = shared_.back();
    beliefs_.emplace_back(
        std::accumulate(p.sizes.begin(), p.sizes.end(), std::size_t{1}, std::multiplies<>()));
  }
  for (std::size_t t = 0; t < terms.size(); ++t) {
    Term term{.columns = std::move(terms[t])};
    std::size_t least = 0;
    for (std::size_t c = 0; c < beliefs_.size(); ++c) {
      const auto& all = tree_.cliques[c].columns;
      if (!std::includes(all.begin(), all.end(), term.columns.begin(), term.columns.end()))
        continue;
      if (least != 0 && beliefs_[c].size() >= least) continue;
      least = beliefs_[c].size();
      term.clique = c;
    }
    term.projection = projection(tree_.cliques[term.clique].columns, term.columns);
    if (!groups.empty() && !groups[t].empty()) {
      bool same = groups[t].size() == term.columns.size();
      for (std::size_t i = 0; same && i < groups[t].size(); ++i)
        same = groups[t][i].size() == levels_[term.columns[i]];
      if (!same) throw InvalidArgument("groups of other levels");
      term.group = grouped_cells(groups[t]);
    }
    potentials_.emplace_back(term.group.empty() ? term.projection.cells
                                                : cells_of_groups(groups[t]));
    terms_.push_back(std::move(term));
  }
  propagate();
}

MarkovModel::Projection MarkovModel::projection(const std::vector<std::uint32_t>& from,
                                                const std::vector<std::uint32_t>& to) const {
  Projection p;
  p.sizes.resize(from.size());
  p.strides.resize(from.size());
  for (std::size_t i = from.size(); i-- > 0;) {
    p.sizes[i] = levels_[from[i]];
    if (!std::binary_search(to.begin(), to.end(), from[i])) continue;
    p.strides[i] = p.cells;
    p.cells *= levels_[from[i]];
  }
  return p;
}

// f(at, to, run, stride): `run` cells of the clique from `at` on belong to the cells to, to +
// stride, … of the projection.
template <class F>
void MarkovModel::walk(const Projection& p, F&& f) {
  const std::size_t last = p.sizes.size() - 1;
  std::vector<std::size_t> digit(p.sizes.size());
  std::size_t at = 0, to = 0;
  for (;;) {
    f(at, to, p.sizes[last], p.strides[last]);
    at += p.sizes[last];
    std::size_t i = last;
    for (;;) {
      if (i == 0) return;
      --i;
      to += p.strides[i];
      if (++digit[i] < p.sizes[i]) break;
      to -= p.strides[i] * p.sizes[i];
      digit[i] = 0;
    }
  }
}

std::vector<double> MarkovModel::sums(const std::vector<double>& table, const Projection& p) {
  std::vector<double> result(p.cells);
  walk(p, [&](std::size_t at, std::size_t to, std::size_t run, std::size_t stride) {
    if (stride == 0) {
      double sum = 0;
      for (std::size_t i = 0; i < run; ++i) sum += table[at + i];
      result[to] += sum;
    } else {
      for (std::size_t i = 0; i < run; ++i) result[to + i * stride] += table[at + i];
    }
  });
  return result;
}

// Waking threads takes longer than a small tree.
unsigned MarkovModel::threads() const {
  std::size_t cells = 0;
  for (const std::vector<double>& table : beliefs_) cells += table.size();
  return cells < kWorthThreads ? 1 : 0;
}

void MarkovModel::propagate() {
  parallel_blocks(beliefs_.size(), threads(), [&](std::size_t c, unsigned) {
    std::vector<double>& table = beliefs_[c];
    std::fill(table.begin(), table.end(), 0.0);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      if (terms_[t].clique != c) continue;
      std::vector<double> of_levels;
      for (const std::uint32_t group : terms_[t].group) of_levels.push_back(potentials_[t][group]);
      const std::vector<double>& theta = of_levels.empty() ? potentials_[t] : of_levels;
      walk(terms_[t].projection,
           [&](std::size_t at, std::size_t to, std::size_t run, std::size_t stride) {
             for (std::size_t i = 0; i < run; ++i) table[at + i] += theta[to + i * stride];
           });
    }
    Eigen::Map<Eigen::ArrayXd> all(table.data(), static_cast<Eigen::Index>(table.size()));
    all = (all - all.maxCoeff()).exp();
  });
  const auto multiply = [](std::vector<double>& table, const Projection& p,
                           const std::vector<double>& factor) {
    walk(p, [&](std::size_t at, std::size_t to, std::size_t run, std::size_t stride) {
      for (std::size_t i = 0; i < run; ++i) table[at + i] *= factor[to + i * stride];
    });
  };
  std::vector<std::vector<double>> upward(beliefs_.size());
  for (std::size_t c = beliefs_.size(); c-- > 1;) {
    std::vector<double>& message = upward[c] = sums(beliefs_[c], shared_[c]);
    const double most = *std::max_element(message.begin(), message.end());
    for (double& x : message) x /= most;
    multiply(beliefs_[tree_.cliques[c].parent], above_[c], message);
  }
  const auto normalise = [](std::vector<double>& table) {
    const double total = std::accumulate(table.begin(), table.end(), 0.0);
    for (double& x : table) x /= total;
  };
  normalise(beliefs_[0]);
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    std::vector<double> factor = sums(beliefs_[tree_.cliques[c].parent], above_[c]);
    for (std::size_t i = 0; i < factor.size(); ++i)
      factor[i] = upward[c][i] > 0 ? factor[i] / upward[c][i] : 0;
    multiply(beliefs_[c], shared_[c], factor);
    normalise(beliefs_[c]);
  }
}

std::vector<double> MarkovModel::marginal(std::size_t term) const {
  std::vector<double> all = sums(beliefs_[terms_[term].clique], terms_[term].projection);
  const std::vector<std::uint32_t>& group = terms_[term].group;
  if (group.empty()) return all;
  std::vector<double> together(potentials_[term].size());
  for (std::size_t i = 0; i < all.size(); ++i) together[group[i]] += all[i];
  return together;
}

std::vector<std::vector<double>> MarkovModel::marginals() const {
  std::vector<std::vector<double>> all(terms_.size());
  parallel_blocks(terms_.size(), threads(), [&](std::size_t t, unsigned) { all[t] = marginal(t); });
  return all;
}

namespace {

// Half the weighted squares of n·p − y, and what they are multiplied with in a step.
double loss(const std::vector<Marginal>& measured, double total,
            const std::vector<std::vector<double>>& marginals,
            std::vector<std::vector<double>>& gradient) {
  double sum = 0;
  gradient.resize(measured.size());
  for (std::size_t t = 0; t < measured.size(); ++t) {
    const double weight = 1 / (measured[t].deviation * measured[t].deviation);
    gradient[t].resize(marginals[t].size());
    for (std::size_t i = 0; i < marginals[t].size(); ++i) {
      const double excess = total * marginals[t][i] - measured[t].counts[i];
      sum += weight * excess * excess / 2;
      gradient[t][i] = total * weight * excess;
    }
  }
  return sum;
}

}  // namespace

void MarkovModel::fit(const std::vector<Marginal>& measured, double total, std::uint64_t iterations,
                      const std::function<void(std::uint64_t)>& step, double share) {
  if (measured.size() != terms_.size()) invariant_broken("marginals of other terms");
  double weights = 0, noise = 0;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    if (std::isfinite(measured[t].deviation))
      noise += share * static_cast<double>(measured[t].counts.size()) / 2;
    if (measured[t].counts.size() != potentials_[t].size() || !(measured[t].deviation > 0))
      invariant_broken("a marginal of another size");
    weights += 1 / (measured[t].deviation * measured[t].deviation);
  }
  if (terms_.empty() || !(total > 0)) return;
  std::vector<std::vector<double>> gradient, next, from = potentials_, velocity = potentials_;
  for (std::vector<double>& v : velocity) std::fill(v.begin(), v.end(), 0.0);
  double now = loss(measured, total, marginals(), gradient), alpha = 4 / (total * total * weights);
  std::vector<double> past;
  double since = 0;  // steps with momentum
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const double momentum = std::min(kMomentum, since / (since + 3));
    for (std::size_t t = 0; t < terms_.size(); ++t)
      for (std::size_t k = 0; k < from[t].size(); ++k)
        potentials_[t][k] =
            std::clamp(from[t][k] + momentum * velocity[t][k] - alpha * gradient[t][k],
                       -kMostPotential, kMostPotential);
    propagate();
    const double then = loss(measured, total, marginals(), next);
    if (then <= now) {
      for (std::size_t t = 0; t < terms_.size(); ++t)
        for (std::size_t k = 0; k < from[t].size(); ++k)
          velocity[t][k] = potentials_[t][k] - from[t][k];
      from = potentials_;
      std::swap(gradient, next);
      now = then;
      ++since;
      alpha *= kLonger;
    } else {
      // Too far: forget the momentum and, without any, shorten the step.
      if (since == 0) alpha /= 4;
      since = 0;
    }
    if (step) step(i + 1);
    past.push_back(now);
    if (now <= noise || (i >= kWindow && past[i - kWindow] - now < kEnough * past[i - kWindow]))
      break;
  }
  if (potentials_ != from) set_potentials(std::move(from));
}

void MarkovModel::set_potentials(std::vector<std::vector<double>> potentials) {
  if (potentials.size() != potentials_.size()) invariant_broken("potentials of other terms");
  for (std::size_t t = 0; t < potentials.size(); ++t)
    if (potentials[t].size() != potentials_[t].size())
      invariant_broken("a potential of another size");
  potentials_ = std::move(potentials);
  propagate();
}

std::vector<std::uint32_t> MarkovModel::sample(std::size_t rows, Rng& rng) const {
  const std::size_t columns = levels_.size();
  std::vector<std::uint32_t> records(rows * columns);
  std::vector<bool> known(columns);
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    const std::vector<std::uint32_t>& all = tree_.cliques[c].columns;
    std::vector<std::uint32_t> given, fresh;
    for (const std::uint32_t column : all) (known[column] ? given : fresh).push_back(column);
    if (fresh.empty()) continue;
    // The table by what is given, then by what is not.
    const Projection by_given = projection(all, given), by_fresh = projection(all, fresh);
    std::vector<double> table(beliefs_[c].size());
    std::size_t at = 0;
    std::vector<std::size_t> place(beliefs_[c].size());
    walk(by_given, [&](std::size_t from, std::size_t to, std::size_t run, std::size_t stride) {
      for (std::size_t i = 0; i < run; ++i) place[from + i] = (to + i * stride) * by_fresh.cells;
    });
    walk(by_fresh, [&](std::size_t from, std::size_t to, std::size_t run, std::size_t stride) {
      for (std::size_t i = 0; i < run; ++i) place[from + i] += to + i * stride;
    });
    for (; at < table.size(); ++at) table[place[at]] = beliefs_[c][at];

    std::vector<std::uint32_t> key(rows);
    for (std::size_t r = 0; r < rows; ++r)
      for (const std::uint32_t column : given)
        key[r] = key[r] * levels_[column] + records[r * columns + column];
    spread_evenly(
        key, by_given.cells, table, by_fresh.cells, rng, [&](std::size_t r, std::size_t cell) {
          for (std::size_t i = fresh.size(); i-- > 0;) {
            records[r * columns + fresh[i]] = static_cast<std::uint32_t>(cell % levels_[fresh[i]]);
            cell /= levels_[fresh[i]];
          }
        });
    for (const std::uint32_t column : fresh) known[column] = true;
  }
  return records;
}

}  // namespace sotto
