#include "sotto/accounting/renyi/detail/renyi_table.hpp"

#include <cmath>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kStep = 0.01;  // of ln(α − 1)

class Table {
 public:
  explicit Table(RenyiBound divergence) : divergence_(std::move(divergence)) {}

  double at(double order) {
    const double m = order - 1, place = std::floor(std::log(m) / kStep);
    const auto index = static_cast<long>(place);
    const double low = std::exp(place * kStep), high = std::exp((place + 1) * kStep);
    const double right = log_moment(index + 1, high);
    // Beyond the largest order that has a bound there is no chord.
    if (!(m > low && m < high) || !std::isfinite(right)) return divergence_(order);
    const double part = (m - low) / (high - low);
    return widen_up(((1 - part) * log_moment(index, low) + part * right) / m, 1e-14);
  }

 private:
  double log_moment(long index, double m) {
    {
      const std::scoped_lock lock(mutex_);
      const auto found = known_.find(index);
      if (found != known_.end()) return found->second;
    }
    const double value = m * divergence_(1 + m);
    const std::scoped_lock lock(mutex_);
    return known_[index] = value;
  }

  RenyiBound divergence_;
  std::mutex mutex_;                        // a curve may be asked by several threads
  std::unordered_map<long, double> known_;  // ln A at 1 + e^(index·step)
};

}  // namespace

RenyiBound tabulated(RenyiBound divergence) {
  const auto table = std::make_shared<Table>(std::move(divergence));
  return [table](double order) { return table->at(order); };
}

}  // namespace sotto
