// Sample and aggregate: fit disjoint parts of the data without privacy, release a private average
// of the fits.
//
// What       Records are dealt to k parts at random; each part is fitted, its parameters clipped to
//            a public ball of radius R; released is their mean with noise, or the private median of
//            every coordinate.
// Guarantee  event(): mean: one discrete Laplace (pure ε) or Gaussian (ρ). median: one exponential
//            mechanism for each parameter.
// Method     The part of a record is drawn independently of every record, so neighbours can be
//            coupled such that one record touches one part: one of the k fits changes, whatever
//            fitting does, within the ball. Hence for every relation and c contributions
//              sum of the fits     moves by at most 2Rc in ℓ2, 2Rc√D in ℓ1;
//              median              c of k values change: the score moves by at most c
//                                  (QuantilePlan, replace_one).
//            k by a public rule unless given: √rows, but not so many that a part has fewer than 4
//            records for a parameter, and at least 8.
// Numerics   Clipped fits are integers in steps of about R·2^−30, checked to lie in the ball; their
//            sum is exact.
// Reference  [NRS07], [Smi11]; docs/math/sample-and-aggregate.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/mechanisms/quantile.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

enum class Aggregate { mean, median };
std::string_view name(Aggregate aggregate);
Aggregate parse_aggregate(std::string_view text);  // throws InvalidArgument

struct SampleAggregateOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;  // 1: binary or regression; K: one per class
  Aggregate aggregate = Aggregate::mean;
  std::uint64_t parts = 0;          // 0: by the rule above
  double radius = 0;                // R; 0: 5, for squared loss √2
  double regularisation = 0;        // λ of the mean loss of a part plus (λ/2)‖θ‖²; 0: 0.01
  std::uint64_t contributions = 1;  // records that one unit of privacy may have
  unsigned threads = 0;
};

class SampleAggregatePlan {
 public:
  // budget: a pure ε or a ρ. rows: the declared number of records; dimension: of a row, with the
  // intercept.
  SampleAggregatePlan(SampleAggregateOptions options, Relation relation, std::uint64_t rows,
                      std::size_t dimension, const Budget& budget);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  const SampleAggregateOptions& options() const { return options_; }  // with the rules' choices

  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const;

 private:
  std::size_t size() const { return dimension_ * options_.outputs; }

  SampleAggregateOptions options_;
  Relation relation_;
  std::size_t dimension_;
  std::optional<LatticeNoise> noise_;   // mean
  std::optional<QuantilePlan> median_;  // median, of one coordinate
  double median_epsilon_ = 0;           // of one coordinate, for all contributions
};

// Clips to the ball of this radius and truncates to whole steps; the result is in the ball exactly.
// Not finite: 0.
std::vector<int128> steps_in_ball(std::span<const double> vector, double radius);
// The step: a power of two, the radius is 2^29 to 2^30 of them.
double ball_step(double radius);

}  // namespace sotto
