// The distribution behind a square wave, and its mean.
#include "sotto/local/server/detail/wave.hpp"

#include <cmath>

#include "sotto/local/server/detail/window_place.hpp"

namespace sotto::local {
namespace {

// Weights that leave the sum as it is, at the edges too.
std::vector<double> smoothed(const std::vector<double>& x, double strength) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double near = (x[i > 0 ? i - 1 : 0] + 2 * x[i] + x[std::min(i + 1, x.size() - 1)]) / 4;
    result[i] = x[i] + strength * (near - x[i]);
  }
  return result;
}

// Expectation–maximisation over the shares of the positions. An observation y has probability
// β/N + (1−β)/w·(share of the positions whose window has y in it): sums over windows are
// differences of running sums.
class Deconvolution {
 public:
  Deconvolution(const Window& window, std::span<const std::int64_t> counts)
      : positions_(window.positions()),
        width_(window.window()),
        counts_(counts.begin(), counts.end()),
        anywhere_(window.blind() / static_cast<double>(window.places())),
        near_((1 - window.blind()) / static_cast<double>(width_)),
        share_(positions_, 1 / static_cast<double>(positions_)) {
    for (const double c : counts_) reports_ += c;
  }

  // Goes on from where it stands, each round followed by some smoothing, until nothing moves.
  void run(double strength) {
    constexpr int kMostWaveRounds = 10'000;
    constexpr double kStillWave = 1e-7;
    for (int round = 0; round < kMostWaveRounds; ++round) {
      std::vector<double> running(counts_.size() + 1, 0.0);
      const std::vector<double> p = probabilities();
      double common = 0;
      for (std::size_t y = 0; y < p.size(); ++y) {
        const double ratio = counts_[y] / p[y];
        common += anywhere_ * ratio;
        running[y + 1] = running[y] + ratio;
      }
      std::vector<double> next(positions_);
      double total = 0, moved = 0;
      for (std::size_t i = 0; i < positions_; ++i)
        total += next[i] = share_[i] * (common + near_ * (running[i + width_] - running[i]));
      if (strength > 0) next = smoothed(next, strength);
      for (std::size_t i = 0; i < positions_; ++i) {
        next[i] /= total;
        moved += std::abs(next[i] - share_[i]);
      }
      share_ = std::move(next);
      if (moved < kStillWave) break;
    }
  }

  // Pearson's distance of the reports from what the shares let expect.
  double distance() const {
    double sum = 0;
    const std::vector<double> p = probabilities();
    for (std::size_t y = 0; y < p.size(); ++y) {
      const double expected = reports_ * p[y], off = counts_[y] - expected;
      sum += off * off / expected;
    }
    return sum;
  }

  const std::vector<double>& shares() const { return share_; }

 private:
  std::vector<double> probabilities() const {
    std::vector<double> upto(positions_ + 1, 0.0), p(counts_.size());
    for (std::size_t i = 0; i < positions_; ++i) upto[i + 1] = upto[i] + share_[i];
    for (std::size_t y = 0; y < p.size(); ++y) {
      const std::size_t from = y + 1 > width_ ? y + 1 - width_ : 0;
      p[y] = anywhere_ + near_ * (upto[std::min(positions_, y + 1)] - upto[from]);
    }
    return p;
  }

  std::size_t positions_, width_;
  std::vector<double> counts_;
  double anywhere_, near_, reports_ = 0;
  std::vector<double> share_;
};

class WaveCounts final : public WaveAggregator {
 public:
  explicit WaveCounts(const Window& w) : WaveAggregator(w.places()), window_(w) {}
  bool accepts(Bytes report) const override {
    return report.size() == window_.report_bytes() && read_whole(report) < window_.places();
  }

  std::vector<double> distribution(bool smooth) override {
    Deconvolution shares(window_, cells_);
    // Full smoothing first, then less and less, until the reports are as close as they would be to
    // the truth: Pearson's distance is then N − 1 on average.
    const auto expected = static_cast<double>(window_.places() - 1);
    for (double strength = 1; smooth && strength > kLeastSmoothing; strength *= 0.3) {
      shares.run(strength);
      if (shares.distance() <= expected) return shares.shares();
    }
    shares.run(0);
    return shares.shares();
  }

  EstimatedMean mean() override {
    double y = 0, y2 = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto place = static_cast<double>(i), count = static_cast<double>(cells_[i]);
      y += count * place, y2 += count * place * place;
    }
    const WindowPlace place(window_);
    const auto n = static_cast<double>(reports_);
    return scaled(averaged(place.sum(y, n), place.squares(y, y2, n), n), window_.bounds());
  }

 private:
  static constexpr double kLeastSmoothing = 1e-4;
  void count(Bytes report) override { ++cells_[read_whole(report)]; }
  Window window_;
};

}  // namespace

std::unique_ptr<Aggregator> make_wave_aggregator(const Window& window) {
  return std::make_unique<WaveCounts>(window);
}

}  // namespace sotto::local
