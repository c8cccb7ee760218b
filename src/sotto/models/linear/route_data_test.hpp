// Small data sets and their neighbours, for the tests of the routes to privacy.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/method_choice.hpp"

namespace sotto::test {

struct Record {
  std::vector<float> x;
  float y;
};
using Records = std::vector<Record>;

// Two numbers in [−1, 1] and an intercept: rows of dimension 3.
inline ExactRows rows_of(const Records& records) {
  ExactRows rows(2, std::sqrt(2.0), 1);
  for (const Record& r : records) rows.add(r.x, r.y);
  return rows;
}

inline PublicFacts facts_for(LinearKind kind, std::size_t outputs, Relation relation,
                             std::uint64_t rows, std::uint64_t contributions = 1) {
  return {.kind = kind,
          .relation = relation,
          .rows = rows,
          .dimension = 3,
          .outputs = outputs,
          .contributions = contributions,
          .norm_bound = std::sqrt(2.0),
          .columns = {{.first = 0}, {.first = 1}}};
}

// The target follows the first number; classes for outputs > 1, ±1 or a number in [−1, 1] else.
inline Records sample_records(std::size_t n, LinearKind kind, std::size_t outputs,
                              std::uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Records records;
  for (std::size_t i = 0; i < n; ++i) {
    const float a = uniform(random), b = uniform(random), noise = 0.2f * uniform(random);
    float y = 0.8f * a + noise;
    if (kind != LinearKind::linear) {
      y = outputs == 1 ? (y > 0 ? 1.0f : -1.0f)
                       : std::floor((std::min(std::max(a, -0.999f), 0.999f) + 1) / 2 *
                                    static_cast<float>(outputs));
    }
    records.push_back({{a, b}, y});
  }
  return records;
}

// What an attacker would put in: corners, zeros, overflow, things that are no numbers, other
// targets.
inline Records hostile_records(LinearKind kind, std::size_t outputs) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  Records records;
  for (const float y : {-1.0f, 1.0f, 0.0f, static_cast<float>(outputs - 1)}) {
    if (kind != LinearKind::linear && outputs == 1 && y == 0) continue;
    if (outputs > 1 && y < 0) continue;
    for (const auto& x : std::vector<std::vector<float>>{
             {1, 1}, {-1, -1}, {1, -1}, {0, 0}, {1, 0}, {3e38f, -3e38f}, {inf, 1}, {nan, 0}})
      records.push_back({x, y});
  }
  return records;
}

// Neighbours of the records: the last one gone, replaced by `other`, or turned into the null
// record.
inline Records neighbour(Records records, Relation relation, const Record& other) {
  if (relation == Relation::add_remove) {
    records.pop_back();
  } else if (relation == Relation::zero_out) {
    records.back() = {{std::nanf(""), 0}, 0};
  } else {
    records.back() = other;
  }
  return records;
}

inline double accuracy(const LinearModel& model, const Records& records) {
  double right = 0;
  for (const Record& r : records) {
    const std::size_t truth =
        model.outputs == 1 ? (r.y > 0 ? 1 : 0) : static_cast<std::size_t>(r.y);
    right += model.classify(r.x) == truth ? 1 : 0;
  }
  return right / static_cast<double>(records.size());
}

// 1 − squared error ÷ variance of the target.
inline double r_squared(const LinearModel& model, const Records& records) {
  double mean = 0, error = 0, variance = 0;
  for (const Record& r : records) mean += r.y / static_cast<double>(records.size());
  for (const Record& r : records) {
    error += std::pow(model.regress(r.x) - r.y, 2);
    variance += std::pow(r.y - mean, 2);
  }
  return 1 - error / variance;
}

}  // namespace sotto::test
