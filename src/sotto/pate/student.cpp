#include "sotto/pate/student.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/pate/partition.hpp"
#include "sotto/pate/teachers.hpp"

namespace sotto::pate {
namespace {

std::unique_ptr<Model> fitted(const Family& family, const Facts& facts,
                              const TrainingRequest& request, const Table& records, Rng& rng) {
  Facts own = facts;
  own.rows = std::max<std::uint64_t>(1, records.rows());
  const auto plan = plan_training(family, own, request);
  const auto source = table_in_memory(records);
  return std::move(plan->run(*source, rng)).value();
}

}  // namespace

std::unique_ptr<Model> train_student(const Family& family, const Facts& facts,
                                     const TrainingRequest& request, const Table& pool,
                                     std::span<const std::size_t> queries, const Labels& labels,
                                     const features::NeighbourGraph* graph, Rng& rng,
                                     const StudentOptions& options) {
  if (request.method != "none")
    throw InvalidArgument("a student learns from public records: the method must be none");
  if (!pool.targets().empty())
    throw InvalidArgument("the public records must come without targets");
  const std::size_t classes = facts.classes().size();
  Table labelled(pool.encoder());
  std::vector<std::pair<std::size_t, std::uint32_t>> known;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (labels.labels[q].origin == Origin::none) continue;
    known.emplace_back(queries[q], labels.labels[q].value);
    labelled.append(pool, queries[q], 1);
    labelled.add_target(labels.labels[q].value);
  }
  if (known.empty())
    throw InvalidArgument("no label was released, so there is nothing to learn from",
                          "ask more queries, or lower the threshold");
  std::unique_ptr<Model> student = fitted(family, facts, request, labelled, rng);
  if (graph == nullptr) return student;
  std::vector<double> opinion = opinions(*student, pool, classes);
  const auto put_labels = [&] {
    for (const auto& [row, label] : known)
      for (std::size_t c = 0; c < classes; ++c) opinion[row * classes + c] = c == label ? 1 : 0;
  };
  put_labels();
  graph->smooth(opinion, classes, options.steps, options.share);
  put_labels();
  Table all(pool.encoder());
  all.append(pool);
  for (std::size_t row = 0; row < pool.rows(); ++row) {
    const auto first = opinion.begin() + static_cast<std::ptrdiff_t>(row * classes);
    all.add_target(static_cast<double>(
        std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first));
  }
  return fitted(family, facts, request, all, rng);
}

features::Points points_of(const Table& table) {
  features::Points points{.width = table.width(), .values = {}};
  points.values.resize(table.rows() * table.width());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    table.row(i, points.row(i));
    for (float& v : points.row(i))
      if (!std::isfinite(v)) v = 0;
  }
  return points;
}

}  // namespace sotto::pate
