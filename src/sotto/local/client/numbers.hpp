// Numbers in declared bounds: one bit, a window, both, or Laplace noise.
//
// What       OneBit (Duchi's mechanism, 1BitMean): 1 with a probability that grows with the number.
//            Window (piecewise, square wave): a uniform place near the number, or anywhere.
//            Hybrid: Window or OneBit, by a coin. LaplaceNumber: the number and discrete Laplace
//            noise. Coordinates: some coordinates of a vector, each by Window.
// Guarantee  epsilon()-local DP for any two numbers; what is outside of the bounds is clamped.
//            OneBit: the probability of either answer lies between 1/(e^ε+1) and e^ε/(e^ε+1).
//            Window: of N places, those of the window have probability (1−β)/w + β/N, others β/N.
//            Hybrid: a mixture whose coin does not look at the number. Coordinates: ε/t for each of
//            the t coordinates, which are chosen without a look at them.
// Method     A number becomes one of D positions by rounding up or down at random, without bias;
//            position d has the window d … d + w − 1 of N = D − 1 + w places. piecewise: w/N =
//            (C−1)/(2C), C = (e^{ε/2}+1)/(e^{ε/2}−1) [WXYZHSSY19]; square wave: w/D = 2b,
//            b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε)) [LWLLS20].
// Numerics   Positions are whole numbers, β and the one bit's bounds multiples of 2^-64.
// Reference  [DJW18], [DKY17], [WXYZHSSY19], [LWLLS20].
#pragma once

#include "sotto/core/values.hpp"
#include "sotto/local/client/randomizer.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto::local {

// Where a number lies in the bounds, from 0 to 1, clamped.
double place_in(const Bounds& bounds, double number);
// One of `positions` places by random rounding: its mean is place·(positions − 1).
std::uint64_t random_position(double place, std::uint64_t positions, Rng& rng);

class OneBit final : public Randomizer {
 public:
  OneBit(double epsilon, Bounds bounds);
  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return 1; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  bool draw(double place, Rng& rng) const { return rng.next_u64() < threshold(place); }
  double q() const;  // of 1, at the lower bound; at the upper it is 1 − q

 private:
  std::uint64_t threshold(double place) const;
  Bounds bounds_;
  std::uint64_t q_;
  double epsilon_;
};

class Window final : public Randomizer {
 public:
  Window(double epsilon, Bounds bounds, std::uint64_t positions, std::uint64_t window);
  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return bytes_for(places()); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  std::uint64_t draw(std::uint64_t position, Rng& rng) const;
  const Bounds& bounds() const { return bounds_; }
  std::uint64_t positions() const { return positions_; }
  std::uint64_t window() const { return window_; }
  std::uint64_t places() const { return positions_ - 1 + window_; }
  double blind() const;  // β

 private:
  Bounds bounds_;
  std::uint64_t positions_, window_, blind_;
  double epsilon_;
};

std::uint64_t piecewise_window(double epsilon, std::uint64_t positions);
std::uint64_t square_wave_window(double epsilon, std::uint64_t positions);

// The coin of the hybrid mechanism: Window with this probability, else OneBit.
double hybrid_share(double epsilon);

class Hybrid final : public Randomizer {
 public:
  Hybrid(double epsilon, Bounds bounds, std::uint64_t positions);
  double epsilon() const override;
  std::size_t report_bytes() const override { return 1 + window_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;
  const OneBit& one_bit() const { return one_bit_; }
  const Window& window() const { return window_; }

 private:
  OneBit one_bit_;
  Window window_;
  std::uint64_t share_;  // 0: always the one bit
};

class LaplaceNumber final : public Randomizer {
 public:
  LaplaceNumber(double epsilon, Bounds bounds, std::uint64_t positions);
  double epsilon() const override { return epsilon_; }
  std::size_t report_bytes() const override { return 8; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;
  std::uint64_t positions() const { return positions_; }

 private:
  Bounds bounds_;
  std::uint64_t positions_;
  DiscreteLaplace noise_;
  double epsilon_;
};

class Coordinates final : public Randomizer {
 public:
  // sampled: how many of the dimensions a report speaks of; each has epsilon/sampled.
  Coordinates(double epsilon, Bounds bounds, std::uint64_t dimensions, std::uint64_t sampled,
              std::uint64_t positions);
  double epsilon() const override;
  std::size_t report_bytes() const override { return sampled_ * part_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;
  std::uint64_t dimensions() const { return dimensions_; }
  std::uint64_t sampled() const { return sampled_; }
  const Window& window() const { return window_; }
  std::size_t part_bytes() const { return bytes_for(dimensions_) + window_.report_bytes(); }

 private:
  std::uint64_t dimensions_, sampled_;
  Window window_;
};

}  // namespace sotto::local
