// Counts and histograms over declared categories.
//
// What       CountPlan: how many records satisfy a public predicate. HistogramPlan: how many
//            records fall in each declared category.
// Guarantee  Costs at most the budget for neighbours under the relation. One record changes a count
//            by at most 1 under every relation.
//            In a histogram it changes one cell by 1 (add_remove, zero_out: ℓ1 = ℓ2 = 1) or moves
//            between two cells (replace_one: ℓ1 = 2, ℓ2 = √2). A record in no declared category is
//            refused, ignored (no cell changes) or counted under a declared category. zero_out: a
//            null record is in no category, declared or not; whoever reads a file leaves it out.
// Method     Exact integer noise on whole counts for pure ε and ρ (lattice step 1). For (ε, δ) the
//            lattice is finer, where the comparison with the continuous Gaussian is sharp, and the
//            result is rounded to whole numbers afterwards.
// Numerics   Exact. Negative noisy counts are reported as 0 unless asked otherwise
//            (post-processing).
// Reference  [GRS09], [CKS20]; docs/math/statistics.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

struct CountOptions {
  Relation relation;
  Budget budget;
  bool allow_negative = false;
  std::uint64_t contributions = 1;  // records of one unit: distances are so many times as large
};

class CountPlan {
 public:
  explicit CountPlan(const CountOptions& options);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return "count of records: " + noise_.describe(); }
  const LatticeNoise& noise() const { return noise_; }

  Release<Statistic> run(std::uint64_t count, Rng& rng) const;

 private:
  bool allow_negative_;
  LatticeNoise noise_;
};

// What to do with a record in no declared category.
enum class UnknownCategory { refuse, ignore };

struct HistogramOptions {
  Relation relation;
  std::vector<std::string> categories;  // declared, distinct, at least one
  Budget budget;
  UnknownCategory unknown = UnknownCategory::refuse;
  std::optional<std::string> other = {};  // a declared category that takes the undeclared ones
  bool allow_negative = false;
  std::uint64_t contributions = 1;  // records of one unit
};

struct Histogram {
  std::vector<std::string> categories;
  std::vector<double> counts;
  NoiseInfo noise;  // of each count
};

class HistogramAccumulator;

class HistogramPlan {
 public:
  explicit HistogramPlan(HistogramOptions options);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  const LatticeNoise& noise() const { return noise_; }
  const std::vector<std::string>& categories() const { return options_.categories; }

  HistogramAccumulator start() const;
  Release<Histogram> run(std::span<const std::uint64_t> counts,
                         Rng& rng) const;  // counts in the order of the categories

 private:
  friend class HistogramAccumulator;
  HistogramOptions options_;
  std::map<std::string, std::size_t, std::less<>> index_;
  LatticeNoise noise_;
};

class HistogramAccumulator {
 public:
  void add(std::string_view category);
  void merge(const HistogramAccumulator& other);
  Release<Histogram> finish(Rng& rng) && { return plan_.run(counts_, rng); }

 private:
  friend class HistogramPlan;
  explicit HistogramAccumulator(const HistogramPlan& plan)
      : plan_(plan), counts_(plan.categories().size()) {}
  HistogramPlan plan_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t records_ = 0;
};

// Noise for vectors of whole numbers; `distance` in whole numbers. Its granularity divides 1.
LatticeNoise counting_noise(Relation relation, const Budget& budget, Distance distance,
                            std::size_t dimension);
// The distance between histograms of neighbours.
Distance histogram_distance(Relation relation);
// The distance of neighbours that differ in so many records: the triangle inequality, rounded up.
Distance times(const Distance& one, std::uint64_t records);
// counts + noise, as whole numbers.
std::vector<double> noisy_counts(const LatticeNoise& noise, std::span<const std::uint64_t> counts,
                                 Rng& rng);

}  // namespace sotto
