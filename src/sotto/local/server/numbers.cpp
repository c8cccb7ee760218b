#include "sotto/local/server/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/local/client/numbers.hpp"
#include "sotto/local/client/rounded_bit.hpp"
#include "sotto/local/server/detail/wave.hpp"
#include "sotto/local/server/detail/window_place.hpp"

namespace sotto::local {
namespace {

// The place that a bit estimates without bias.
struct BitPlace {
  double q;
  double operator()(double bit) const { return (bit - q) / (1 - 2 * q); }
};
constexpr std::int64_t kLaplaceMost = std::int64_t{1} << 20;

class BitSum final : public MeanAggregator {
 public:
  // q: of 1 at the lower bound.
  BitSum(double q, Bounds bounds) : MeanAggregator(1), place_{q}, bounds_(bounds) {}
  bool accepts(Bytes report) const override { return report.size() == 1 && report[0] <= 1; }
  std::vector<EstimatedMean> means() override {
    const auto n = static_cast<double>(reports_), ones = static_cast<double>(cells_[0]);
    const double a = place_(1), b = place_(0), q = place_.q;
    // A bit is 1 with a probability between q and 1 − q, whatever the number.
    const double least = q * (1 - q) * (a - b) * (a - b);
    return {scaled(averaged(ones * a + (n - ones) * b, ones * a * a + (n - ones) * b * b, n, least),
                   bounds_)};
  }

 private:
  void count(Bytes report) override { cells_[0] += report[0]; }
  BitPlace place_;
  Bounds bounds_;
};

class WindowSums final : public MeanAggregator {
 public:
  explicit WindowSums(const Window& w) : MeanAggregator(2), window_(w) {}
  bool accepts(Bytes report) const override {
    return report.size() == window_.report_bytes() && read_whole(report) < window_.places();
  }
  std::vector<EstimatedMean> means() override {
    const WindowPlace place(window_);
    const auto n = static_cast<double>(reports_), y = static_cast<double>(cells_[0]),
               y2 = static_cast<double>(cells_[1]);
    return {scaled(averaged(place.sum(y, n), place.squares(y, y2, n), n), window_.bounds())};
  }

 private:
  void count(Bytes report) override {
    const auto y = static_cast<std::int64_t>(read_whole(report));
    cells_[0] += y, cells_[1] += y * y;
  }
  std::int64_t most_up() const override { return std::int64_t{1} << 30; }
  Window window_;
};

class HybridSums final : public MeanAggregator {
 public:
  explicit HybridSums(const Hybrid& h) : MeanAggregator(4), hybrid_(h) {}
  bool accepts(Bytes report) const override {
    if (report.size() != hybrid_.report_bytes() || report[0] > 1) return false;
    const std::uint64_t y = read_whole(report.subspan(1));
    return report[0] == 1 ? y < hybrid_.window().places() : y <= 1;
  }
  std::vector<EstimatedMean> means() override {
    const WindowPlace place(hybrid_.window());
    const BitPlace bit{hybrid_.one_bit().q()};
    const auto n = static_cast<double>(reports_), wide = static_cast<double>(cells_[0]),
               ones = static_cast<double>(cells_[1]), y = static_cast<double>(cells_[2]),
               y2 = static_cast<double>(cells_[3]);
    const double zeros = n - wide - ones, a = bit(1), b = bit(0);
    return {scaled(averaged(place.sum(y, wide) + ones * a + zeros * b,
                            place.squares(y, y2, wide) + ones * a * a + zeros * b * b, n),
                   hybrid_.window().bounds())};
  }

 private:
  void count(Bytes report) override {
    const auto y = static_cast<std::int64_t>(read_whole(report.subspan(1)));
    if (report[0] == 1) {
      ++cells_[0], cells_[2] += y, cells_[3] += y * y;
    } else {
      cells_[1] += y;
    }
  }
  std::int64_t most_up() const override { return std::int64_t{1} << 30; }
  Hybrid hybrid_;
};

class LaplaceSums final : public MeanAggregator {
 public:
  LaplaceSums(const LaplaceNumber& r, Bounds bounds)
      : MeanAggregator(2), positions_(static_cast<double>(r.positions() - 1)), bounds_(bounds) {}
  bool accepts(Bytes report) const override {
    if (report.size() != 8) return false;
    const auto y = static_cast<std::int64_t>(read_whole(report));
    return y >= -kLaplaceMost && y <= kLaplaceMost;
  }
  std::vector<EstimatedMean> means() override {
    const auto n = static_cast<double>(reports_);
    const double y = static_cast<double>(cells_[0]) / positions_,
                 y2 = static_cast<double>(cells_[1]) * kUnit / (positions_ * positions_);
    return {scaled(averaged(y, y2, n), bounds_)};
  }

 private:
  static constexpr std::int64_t kUnit = 1024;  // squares are counted in these
  void count(Bytes report) override {
    const auto y = static_cast<std::int64_t>(read_whole(report));
    cells_[0] += y, cells_[1] += (y * y + kUnit / 2) / kUnit;
  }
  std::int64_t most_down() const override { return kLaplaceMost; }
  std::int64_t most_up() const override { return kLaplaceMost * (kLaplaceMost / kUnit); }
  double positions_;
  Bounds bounds_;
};

class CoordinateSums final : public MeanAggregator {
 public:
  explicit CoordinateSums(const Coordinates& c) : MeanAggregator(3 * c.dimensions()), all_(c) {}
  bool accepts(Bytes report) const override {
    if (report.size() != all_.report_bytes()) return false;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < all_.sampled(); ++i) {
      const std::uint64_t at = coordinate(report, i);
      if (at >= all_.dimensions() || (i > 0 && at <= last)) return false;
      if (place(report, i) >= all_.window().places()) return false;
      last = at;
    }
    return true;
  }
  std::vector<EstimatedMean> means() override {
    const WindowPlace place_of(all_.window());
    std::vector<EstimatedMean> result;
    for (std::uint64_t d = 0; d < all_.dimensions(); ++d) {
      const auto n = static_cast<double>(cells_[3 * d]), y = static_cast<double>(cells_[3 * d + 1]),
                 y2 = static_cast<double>(cells_[3 * d + 2]);
      result.push_back(n > 0 ? scaled(averaged(place_of.sum(y, n), place_of.squares(y, y2, n), n),
                                      all_.window().bounds())
                             : EstimatedMean{0, INFINITY});
    }
    return result;
  }

 private:
  Bytes part(Bytes report, std::uint64_t i) const {
    return report.subspan(i * all_.part_bytes(), all_.part_bytes());
  }
  std::uint64_t coordinate(Bytes report, std::uint64_t i) const {
    return read_whole(part(report, i).first(bytes_for(all_.dimensions())));
  }
  std::uint64_t place(Bytes report, std::uint64_t i) const {
    return read_whole(part(report, i).subspan(bytes_for(all_.dimensions())));
  }
  void count(Bytes report) override {
    for (std::uint64_t i = 0; i < all_.sampled(); ++i) {
      std::int64_t* cell = cells_.data() + 3 * coordinate(report, i);
      const auto y = static_cast<std::int64_t>(place(report, i));
      ++cell[0], cell[1] += y, cell[2] += y * y;
    }
  }
  std::int64_t most_up() const override { return std::int64_t{1} << 30; }
  Coordinates all_;
};

}  // namespace

std::unique_ptr<Aggregator> make_number_aggregator(const Declaration& d) {
  if (!d.parameters.contains("lower")) return nullptr;
  const Bounds bounds(d.parameter("lower"), d.parameter("upper"));
  if (d.protocol == "one_bit_mean")
    return std::make_unique<BitSum>(OneBit(d.epsilon, bounds).q(), bounds);
  if (d.protocol == "rounded_bit")
    return std::make_unique<BitSum>(
        RoundedBit(d.epsilon, bounds, d.whole("grid"), d.parameter("gamma")).q(), bounds);
  const std::uint64_t positions = d.whole("positions");
  if (d.protocol == "piecewise")
    return std::make_unique<WindowSums>(
        Window(d.epsilon, bounds, positions, piecewise_window(d.epsilon, positions)));
  if (d.protocol == "hybrid")
    return std::make_unique<HybridSums>(Hybrid(d.epsilon, bounds, positions));
  if (d.protocol == "laplace")
    return std::make_unique<LaplaceSums>(LaplaceNumber(d.epsilon, bounds, positions), bounds);
  if (d.protocol == "square_wave")
    return make_wave_aggregator(
        Window(d.epsilon, bounds, positions, square_wave_window(d.epsilon, positions)));
  if (d.protocol == "coordinates")
    return std::make_unique<CoordinateSums>(
        Coordinates(d.epsilon, bounds, d.whole("dimensions"), d.whole("sampled"), positions));
  return nullptr;
}

}  // namespace sotto::local
