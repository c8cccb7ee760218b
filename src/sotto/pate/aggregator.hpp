// Aggregators: the label that most teachers chose, with noise.
//
// What       LabelPlan answers a list of queries by
//              lnmax            argmax of votes + Laplace noise,
//              gnmax            argmax of votes + Gaussian noise,
//              confident_gnmax  the same, but only where the largest count + Gaussian noise reaches
//                               a threshold,
//              interactive      the same, with the student's own opinion: the threshold is on the
//                               largest lead over what the student expects, and where the teachers
//                               do not contradict a student that is sure, its label stands for
//                               free.
// Guarantee  Under every relation one record (or one user with all records) belongs to one
//            teacher, so it moves one vote of each query from one class to another: ℓ1 by 2, ℓ2 by
//            √2, the largest count by 1. The event holds for any votes. The plan says how many
//            queries may be answered, and stops there: `queries` thresholds and `answers` labels
//            are paid for, whatever the votes are. Which queries were answered is released, and the
//            thresholds pay for it. With `as_bits` an answer between two classes is charged as the
//            bit that it is, which holds for any votes of this many teachers.
// Method     Exact discrete noise on the lattice 2^-20; argmax is post-processing, the first of
//            equals wins.
// Numerics   Integers only.
// Reference  [PAEGT17], [PSMRTE18]; docs/math/pate.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"
#include "sotto/pate/votes.hpp"

namespace sotto::pate {

inline constexpr double kVoteStep = 0x1p-20;  // the lattice of the noise, in votes

enum class Aggregator { lnmax, gnmax, confident_gnmax, interactive };
std::string_view name(Aggregator aggregator);
Aggregator parse_aggregator(std::string_view text);  // throws InvalidArgument
inline bool has_threshold(Aggregator a) {
  return a == Aggregator::confident_gnmax || a == Aggregator::interactive;
}

struct LabelOptions {
  Relation relation = Relation::add_remove;
  Aggregator aggregator = Aggregator::gnmax;
  std::uint64_t teachers = 0, queries = 0;
  std::size_t classes = 0;
  double sigma = 40;              // of the noise on votes; the scale of Laplace noise
  double threshold = 0;           // of those that have one
  double sigma_threshold = 0;     //
  std::uint64_t answers = 0;      // at most; 0: all queries
  double student_certainty = .9;  // interactive: a student this sure keeps its label
  // Two classes: the event is of answers, which are single bits (two_classes.hpp), instead of the
  // noisy counts behind them. Cheaper at most δ; not all accountants can express it.
  bool as_bits = false;
};

// Where a label came from.
enum class Origin : std::uint8_t { none, teachers, student };
struct Label {
  Origin origin = Origin::none;
  std::uint32_t value = 0;
};
struct Labels {
  std::vector<Label> labels = {};  // of each query
  std::uint64_t asked = 0;         // queries whose votes were looked at
  std::uint64_t answered = 0;      // by the teachers
};

class LabelPlan {
 public:
  explicit LabelPlan(const LabelOptions& options);  // throws InvalidArgument

  Event event() const { return event_; }
  Relation relation() const { return options_.relation; }
  std::string describe() const;
  const LabelOptions& options() const { return options_; }

  // student: what it says of each query, queries × classes; for interactive only. Public.
  Release<Labels> run(const Votes& votes, Rng& rng,
                      const std::vector<double>* student = nullptr) const;

  // The largest count, or lead over the student, of a query: moves by at most 1.
  std::int64_t margin(const Votes& votes, std::size_t query,
                      const std::vector<double>* student = nullptr) const;

 private:
  bool confident(std::int64_t margin, Rng& rng) const;
  std::uint32_t answer(std::span<const std::int64_t> counts, Rng& rng) const;

  LabelOptions options_;
  std::variant<DiscreteLaplace, DiscreteGaussian> noise_;
  std::optional<DiscreteGaussian> threshold_noise_;
  Event event_;
};

}  // namespace sotto::pate
