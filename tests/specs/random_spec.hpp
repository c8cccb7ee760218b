// Random specifications over all that an event can say: every kind, relation and scheme, nested, at
// ordinary and at absurd parameters.
//
// A seed names one question for good: the generator and what is drawn from it are the same on every
// machine, so a seed in a report reproduces a finding.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sotto/core/spec.hpp"

namespace sotto::specs {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 1) {}

  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  // Uniform on a logarithmic scale; often a round number in the middle, where most users are.
  double between(double low, double high);
  std::uint64_t whole(std::uint64_t low, std::uint64_t high);

 private:
  std::mt19937_64 engine_;
};

struct Question {
  Spec spec;
  double delta;
};

Question random_question(std::uint64_t seed);

// A specification that costs at least as much: one number of it was moved, or all of it is done
// more often.
struct Costlier {
  Spec spec;
  std::string change;
};
std::vector<Costlier> costlier_than(const Spec& spec, Dice& dice, int how_many);

}  // namespace sotto::specs
