// Points in [−1, 1]^d as tables, and requests for the families without a target.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/data/matrix_table.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/learning/source.hpp"
#include "sotto/learning/unsupervised_model.hpp"

namespace sotto::test {

using Points = std::vector<std::vector<double>>;

inline Schema point_schema(std::size_t width, Relation relation, std::uint64_t rows) {
  return matrix_schema(
      {.bounds = std::vector<Bounds>(width, Bounds(-1, 1)), .relation = relation, .rows = rows});
}

// A point that is no number is a null record.
inline Table table_of(const Points& points, const Encoder& encoder) {
  Table table(encoder);
  for (const std::vector<double>& p : points) {
    const Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = std::isnan(p.front())
                      ? p.front()
                      : encoder.encode(std::span<const double>(p), sink.dense, sink.hot, column);
  }
  return table;
}

inline TrainingRequest asked(const Family& family, const std::string& method,
                             const std::optional<Budget>& budget,
                             const OptionValues::Raw& options = {}) {
  const std::string kind = family.kinds.front().name;
  return {.kind = kind,
          .method = method,
          .budget = budget,
          .options = OptionValues(options_of(family, kind), options)};
}

inline TrainedModel trained(const Family& family, const TrainingRequest& request,
                            const Points& points, std::size_t width, std::uint64_t seed,
                            Relation relation = Relation::add_remove) {
  const Facts facts = facts_for(family, point_schema(width, relation, points.size() + 1), request);
  const Table table = table_of(points, *facts.encoder);
  Rng rng = Rng::insecure_seed(seed);
  return plan_training(family, facts, request)->run(*table_in_memory(table), rng);
}

// Gaussian clouds about these centres, in turn.
inline Points clouds(const Points& centres, std::size_t n, double deviation, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  Points points;
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back(centres[i % centres.size()]);
    for (double& x : points.back()) x += normal(random);
  }
  return points;
}

}  // namespace sotto::test
