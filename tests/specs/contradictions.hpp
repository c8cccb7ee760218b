// What all accountants say about one question, held against each other.
//
// Every bound is a theorem, so: no lower bound above an upper one, whoever says it, for ε at δ and
// for δ at ε; no bound of a specification above one of a costlier specification; claims that do not
// fall when the cost rises; and no answer that is not a number, no defect, no question that takes
// longer than a few seconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "specs/random_spec.hpp"

namespace sotto::specs {

struct Limits {
  double seconds = 5;  // of processor time, for one question to one accountant
  int costlier = 1;    // specifications to compare with
};

struct Findings {
  std::uint64_t asked = 0, answered = 0;  // questions to single accountants
  std::uint64_t two_sided = 0;            // answers with a lower bound above 0
  double slowest = 0;                     // seconds of processor time
  std::string slowest_question;
  std::map<std::string, double> seconds;  // of processor time, by what was asked of whom
  std::vector<std::string> contradictions;
  std::vector<std::string> slow;  // questions that took longer than the limit

  void add(const Findings& other);
};

Findings examine(const Question& question, Dice& dice, const Limits& limits);
// The question of the seed.
Findings examine(std::uint64_t seed, const Limits& limits = {});

}  // namespace sotto::specs
