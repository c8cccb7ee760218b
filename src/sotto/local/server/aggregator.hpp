// The collector's half of a local protocol: reports in, whole-number cells that can be added.
//
// What       Aggregator::add counts a report; cells() is all that is kept of the reports, merge()
//            adds what another collector counted. Frequencies are estimated from the cells.
// Guarantee  Nothing is spent: whatever is made of reports is post-processing. No secret is needed,
//            and the size of the cells does not depend on the number of reports.
// Method     accepts() looks at the shape of a report; what has not the shape of one is never
//            guessed into one.
// Numerics   Sums of whole numbers, hence the same in any order and on any number of machines.
//            Overflow is refused.
// Reference  docs/math/local-privacy.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

inline constexpr std::uint64_t kMostReports = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMostCells = std::uint64_t{1} << 27;

class Aggregator {
 public:
  virtual ~Aggregator() = default;

  virtual bool accepts(Bytes report) const = 0;
  void add(Bytes report) {  // one that it accepts
    count(report);
    ++reports_;
  }
  std::uint64_t reports() const { return reports_; }
  std::span<const std::int64_t> cells() {
    settle();
    return cells_;
  }
  // From a stranger's file: throws DataError when so many reports cannot have made these cells.
  void merge(std::uint64_t reports, std::span<const std::int64_t> cells);
  // The same in pieces: cells from `first` on; then, once, the reports that they are of.
  void merge_cells(std::uint64_t reports, std::size_t first, std::span<const std::int64_t> cells);
  void merge_reports(std::uint64_t reports);

 protected:
  explicit Aggregator(std::uint64_t cells);
  std::vector<std::int64_t> cells_;
  std::uint64_t reports_ = 0;

 private:
  virtual void count(Bytes report) = 0;
  virtual void settle() {}  // what was put aside is brought into the cells
  // How far one report moves a cell at most, down and up.
  virtual std::int64_t most_down() const { return 0; }
  virtual std::int64_t most_up() const { return 1; }
};

// Estimates of the shares of all categories, and the variance of each.
struct Frequencies {
  std::vector<double> share, variance;
};

// A protocol whose reports support some categories each: the value's own with probability p, any
// other with q.
struct Support {
  double p, q;
  std::vector<double> counts;  // reports that support each category
};

class FrequencyAggregator : public Aggregator {
 public:
  using Aggregator::Aggregator;
  // Unbiased; shares may be negative and need not add up to 1.
  virtual Frequencies frequencies() = 0;
  // Nothing for protocols that are not of this form.
  virtual std::optional<Support> support() { return std::nullopt; }
  // n times the variance of the estimate of a category with this share, for n reports.
  virtual double unit_variance(double share) const = 0;
};

// n·Var of a protocol with these probabilities of support.
double support_variance(double p, double q, double share);

std::unique_ptr<FrequencyAggregator> make_frequency_aggregator(const Declaration& declaration);

}  // namespace sotto::local
