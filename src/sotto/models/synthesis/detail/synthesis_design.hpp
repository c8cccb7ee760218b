// What a generator spends its budget on: decided by public facts alone.
//
// What       How many pairs of columns are measured and how they are found, how finely numbers are
//            counted, and the mechanisms with their noise.
// Guarantee  event(): the mechanisms' composition; no datum has any influence on it.
//            columns  One record is in one cell of each of d columns and counts v times there, and
//                     adds 1 or −1 to k sums of kinds (column_counts.hpp): ℓ1 = v·d + k,
//                     ℓ2 = √(v²d + k); replaced ℓ1 = 2(v·d + k), ℓ2 = √(2v²d + 4k). v = 1 where
//                     k = 0.
//            choice   few: the exponential mechanism, once for each pair that is wanted
//                     (selection.hpp). Σ_ij |M_ij − M_i·p_ij| of a pair with the target, p
//                     released: a record in cell ij adds 1 − p_ij there and −p_ik in the others of
//                     its row, at most 2 − 2p_ij ≤ 2 together. Of other pairs Σ|M − E|, at most 1.
//            scores   Σ|M − E| of all pairs (few: of those chosen), E released before: one record
//                     moves one M by 1, so one score by at most 1, all of them by ℓ1 = their
//                     number, ℓ2 = its root.
//            triples  Σ|R|/B of two columns and the target (triple_queries.hpp), less what was
//                     released of its pairs: one record moves it by at most 1. A few are chosen by
//                     the exponential mechanism, and their scores, which move by ℓ1 = their number,
//                     ℓ2 = its root, are released as those of pairs are.
//            trends   u(x)·v(t) of each column with the target (trend_queries.hpp): of the sums of
//                     one column a record moves one by 1: ℓ1 = their columns' number, ℓ2 = its
//                     root, twice that under replace_one.
//            check    Two sums of what is predicted of the target (target_check.hpp), each moved by
//                     at most 1.
//            again    A chosen pair or triple, and a column, counts a record v times: ℓ1 = Σ v ≤ 1
//                     (pure), ℓ2 = √Σ v² ≤ 1.
//            replace_one is one record taken away and one put in: counts move by 2 in ℓ1 and by √2
//            times as much in ℓ2, a score by twice as much. A unit with k records moves everything
//            k times as far. A null record counts nowhere.
// Method     many, where the noise of all scores together is a small part of the declared records.
//            few elsewhere: as many pairs are looked at as leave the noise of one a part of the
//            records, with the target if there is one. none, where even one pair would be more
//            noise than records: columns are independent. Trends and their check on the route
//            few with a target; where records are hardly any, these and columns alone. Triples
//            where one with few groups of levels would have noise that is a small part of the
//            records. Numbers have as many cells as leave half of them together six deviations of
//            noise, and one of them two.
// Numerics   Sensitivities are exact on whole steps, roots are rounded up.
// Reference  docs/math/synthesis.md.
#pragma once

#include <cstdint>
#include <optional>

#include "sotto/learning/facts.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/mechanisms/selection.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/column_counts.hpp"

namespace sotto {

enum class PairRoute { none, few, many };

inline constexpr std::int64_t kScoreSteps = 1 << 10;   // of one record
inline constexpr std::int64_t kWeightSteps = 1 << 20;  // of weight 1

struct SynthesisDesign {
  Relation relation = Relation::add_remove;
  std::uint64_t contributions = 1;
  std::size_t columns = 0;
  PairRoute route = PairRoute::many;
  std::uint32_t levels = 12;        // of a number, about
  std::uint32_t coarse = 4096;      // cells of a number that are counted
  std::size_t with_target = 0;      // few: pairs with the target,
  bool all_targets = false;         // all of them, not chosen;
  std::size_t others = 0;           // few: other pairs
  std::size_t triples = 0;          // of two columns and the target
  std::uint32_t triple_levels = 0;  // groups of levels of a column there
  double share_of_columns = 1, share_of_choice = 0, share_of_scores = 0, share_of_rest = 0;
  double share_of_triples = 0;  // for their choice, and as much again for their scores
  std::size_t trends = 0;       // few: sums of columns with the target, at most
  double share_of_trends = 0, share_of_check = 0;

  // rows: declared, none: as many as it takes. budget: about what there is to spend; alone: columns
  // and nothing else.
  SynthesisDesign(const CellColumns& cells, const Facts& facts, const Budget& budget, bool alone);

  std::size_t pairs() const { return columns * (columns - 1) / 2; }
  std::size_t all_triples() const { return (columns - 1) * (columns - 2) / 2; }
  std::size_t scored() const { return route == PairRoute::many ? pairs() : with_target + others; }
  // Of the pairs and triples that are measured, whichever they are.
  std::size_t cells_again() const;
  std::size_t most_pairs() const;
  static constexpr std::size_t kTried = 8;  // pairs for each column that the tree is tried with
};

// What is noised by how much; a function of the design and the budget.
class SynthesisMechanisms {
 public:
  SynthesisMechanisms(const SynthesisDesign& design, const ColumnCounts& counts,
                      const Budget& budget);

  const LatticeNoise& columns() const { return columns_; }
  const std::optional<TopKPlan>& targets() const { return targets_; }  // few
  const std::optional<TopKPlan>& others() const { return others_; }    // few
  const std::optional<TopKPlan>& triples() const { return triples_; }
  const std::optional<LatticeNoise>& triple_scores() const { return triple_scores_; }
  const std::optional<LatticeNoise>& scores() const { return scores_; }
  const std::optional<LatticeNoise>& trends() const { return trends_; }  // few, with a target
  const std::optional<LatticeNoise>& check() const { return check_; }    // the same
  // Of chosen pairs and triples and, once more, of all columns.
  const std::optional<LatticeNoise>& again() const { return again_; }
  bool pure() const { return pure_; }
  // How often a record counts in a column of the first release.
  std::int64_t of_columns() const { return of_columns_; }
  Event event() const;

 private:
  bool pure_;
  std::int64_t of_columns_;
  LatticeNoise columns_;
  std::optional<LatticeNoise> scores_, triple_scores_, again_, trends_, check_;
  std::optional<TopKPlan> targets_, others_, triples_;
};

}  // namespace sotto
