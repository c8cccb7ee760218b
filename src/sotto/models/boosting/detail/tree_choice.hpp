// Detail: which trees are drawn next: at random, and more often where earlier ones found something.
//
// Everything it learns from was released: the noisy sums of earlier trees. The credit of a set of
// columns is the gain of its tree, Σ G²/H over the leaves, less what noise alone would show. The
// credit of a column is how much of it is lost when the tree is merged along that column: it sees
// interactions that no marginal shows. With a share kAgain an earlier set of columns is drawn, by
// its credit; else a new one of up to three columns, half of it by their credits and half by the
// shares from the marginals.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/boosting/detail/grid_tree.hpp"
#include "sotto/models/kernel/detail/pair_scan.hpp"

namespace sotto {

class TreeChoice {
 public:
  static constexpr double kThreeColumns = 0.4;

  // shares: how often each column is looked at before anything is known; they add up to 1.
  // found: pairs of columns that are known to say something together; the first trees are theirs.
  // three: how often new trees have three columns; of the others a third has one.
  TreeChoice(std::vector<double> shares, std::size_t leaves, std::span<const PairCredit> found = {},
             double three = kThreeColumns);

  // Cuts at random, evenly spread: a tree without values.
  GridTree draw(Rng& rng);

  // sums: noisy, leaf by leaf, one for each margin; weights: positive, one for each leaf; noise:
  // the standard deviation of each sum.
  void learn(const GridTree& tree, std::span<const double> sums, std::span<const double> weights,
             double noise);

  // The share of signal in the gain of the last trees, in [0, 1]; 1 without noise. A step of this
  // length lowers the loss the most, one of twice the length not at all.
  double worth() const;

 private:
  std::vector<std::uint32_t> draw_columns(Rng& rng);

  std::vector<double> shares_, drawn_by_, credit_;
  std::vector<std::vector<std::uint32_t>> next_;  // last first
  std::map<std::vector<std::uint32_t>, double> sets_;
  double found_ = 0, noise_ = 0;  // running means of net gains, and of what noise adds to them
  std::size_t leaves_;
  double three_;
};

}  // namespace sotto
