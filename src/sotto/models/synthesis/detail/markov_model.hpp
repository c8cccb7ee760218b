// A Markov model of a table: the distribution of largest entropy among those that fit noisy
// marginals, with exact sums on its junction tree.
//
// What       p(x) ∝ exp Σ_t θ_t(x_t), one potential θ_t for each measured set of columns. fit()
//            finds potentials whose marginals are near the noisy ones; sample() draws records.
// Guarantee  Post-processing of released marginals.
// Method     Belief propagation on the junction tree gives the marginals of all cliques exactly.
//            fit() is mirror descent with momentum on ½ Σ_t ‖n·p_t − y_t‖²/σ_t²: θ_t moves by
//            −α·n·(n·p_t − y_t)/σ_t². A step that raises the loss is taken back, the momentum
//            forgotten, then α shortened. It ends once the loss is below what noise alone would
//            leave: nearer would be fitting noise. Records are drawn clique by clique, given the
//            columns drawn before; records alike so far spread over the next cells as evenly as
//            whole numbers allow (systematic sampling), so that a file of N records is nearer to p
//            than N independent draws.
// Numerics   Tables in double; what underflows is a combination that does not occur. All cliques
//            together have at most kMostCells cells.
// Reference  [MSM19] for estimating graphical models from noisy marginals, [JJ94] for junction
//            trees; docs/math/synthesis.md.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/synthesis/detail/junction_tree.hpp"

namespace sotto {

// Of each column of a term: the group of each level, 0 and on. None: each level is its own.
using LevelGrouping = std::vector<std::vector<std::uint32_t>>;

// Counts of the combinations of levels of some columns, the last column fastest; of groups of
// levels where there are any.
struct Marginal {
  std::vector<std::uint32_t> columns;  // ascending
  std::vector<double> counts;          // noisy
  double deviation = 1;                // standard deviation of the noise of each
  LevelGrouping groups = {};
};

// From each combination of levels to that of their groups, the last column fastest; nothing
// where there are no groups.
std::vector<std::uint32_t> grouped_cells(const LevelGrouping& groups);
// How many combinations of groups there are.
std::size_t cells_of_groups(const LevelGrouping& groups);

class MarkovModel {
 public:
  static constexpr double kMostCells = 1 << 20;

  // All potentials 0: the uniform distribution. groups: of each term, or of none. Throws
  // InvalidArgument for columns that are none and for groups of other levels.
  MarkovModel(std::vector<std::uint32_t> levels, std::vector<std::vector<std::uint32_t>> terms,
              const std::vector<LevelGrouping>& groups = {});

  // The marginals are those of the terms, in their order; total: how many records they count. The
  // potential of one with an infinite deviation stays as it is.
  // noise: it ends at so much of the loss that noise alone would leave. step(i): after so many of
  // `iterations`.
  static constexpr double kNoise = 0.7;  // nearer is fitting noise
  void fit(const std::vector<Marginal>& measured, double total, std::uint64_t iterations,
           const std::function<void(std::uint64_t)>& step = {}, double noise = kNoise);

  const std::vector<std::vector<double>>& potentials() const { return potentials_; }
  // As potentials() gave them; sizes must be right.
  void set_potentials(std::vector<std::vector<double>> potentials);

  // The probabilities of the t-th term's combinations.
  std::vector<double> marginal(std::size_t term) const;

  // One level for each column, record by record.
  std::vector<std::uint32_t> sample(std::size_t rows, Rng& rng) const;

 private:
  // From the cells of a clique to those of some of its columns.
  struct Projection {
    std::vector<std::size_t> sizes, strides;  // of each column of the clique; stride 0: summed over
    std::size_t cells = 1;
  };
  struct Term {
    std::vector<std::uint32_t> columns;
    std::size_t clique = 0;
    Projection projection = {};
    std::vector<std::uint32_t> group = {};  // of each combination of levels; none: its own
  };
  Projection projection(const std::vector<std::uint32_t>& from,
                        const std::vector<std::uint32_t>& to) const;
  static std::vector<double> sums(const std::vector<double>& table, const Projection& p);
  template <class F>
  static void walk(const Projection& p, F&& f);
  unsigned threads() const;                            // 0: all
  void propagate();                                    // beliefs_ from potentials_
  std::vector<std::vector<double>> marginals() const;  // of all terms

  std::vector<std::uint32_t> levels_;
  JunctionTree tree_;
  std::vector<Projection> shared_;  // of each clique: to what it shares with its parent,
  std::vector<Projection> above_;   // and the same from the parent
  std::vector<Term> terms_;
  std::vector<std::vector<double>> potentials_, beliefs_;  // of terms, of cliques
};

}  // namespace sotto
