#include "sotto/pate/student.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/features/ridge_scores.hpp"
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

constexpr double kFirstRidge = .1, kLastRidge = .3;
constexpr int kRounds = 2;         // of settling
constexpr double kSharpness = 10;  // of probabilities made of scores

using Known = std::vector<std::pair<std::size_t, std::uint32_t>>;

// exp(sharpness·score), adding up to 1 for each record.
void to_probabilities(std::vector<double>& scores, std::size_t classes) {
  for (auto first = scores.begin(); first != scores.end();
       first += static_cast<std::ptrdiff_t>(classes)) {
    const auto end = first + static_cast<std::ptrdiff_t>(classes);
    const double largest = *std::max_element(first, end);
    double sum = 0;
    for (auto p = first; p != end; ++p) sum += * p = std::exp(kSharpness * (*p - largest));
    for (auto p = first; p != end; ++p) *p /= sum;
  }
}

std::vector<double> scores_of_labels(const features::Points& points, const Known& known,
                                     std::size_t classes) {
  std::vector<std::size_t> rows;
  std::vector<double> targets(known.size() * classes, 0.0);
  for (const auto& [row, label] : known) {
    targets[rows.size() * classes + label] = 1;
    rows.push_back(row);
  }
  std::vector<double> scores = features::ridge_scores(points, rows, targets, classes, kFirstRidge);
  to_probabilities(scores, classes);
  return scores;
}

// What least squares make of the likeliest classes of all records.
std::vector<double> settled(const features::Points& points, const std::vector<double>& opinion,
                            std::size_t classes) {
  std::vector<std::size_t> rows(points.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<double> targets(opinion.size(), 0.0);
  for (const std::size_t row : rows) {
    const auto first = opinion.begin() + static_cast<std::ptrdiff_t>(row * classes);
    const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(classes));
    targets[row * classes + static_cast<std::size_t>(best - first)] = 1;
  }
  return features::ridge_scores(points, rows, targets, classes, kLastRidge);
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
  Known known;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if (labels.labels[q].origin == Origin::none) continue;
    known.emplace_back(queries[q], labels.labels[q].value);
    labelled.append(pool, queries[q], 1);
    labelled.add_target(labels.labels[q].value);
  }
  if (known.empty())
    throw InvalidArgument("no label was released, so there is nothing to learn from",
                          "ask more queries, or lower the threshold");
  if (graph == nullptr) return fitted(family, facts, request, labelled, rng);
  const bool ridge = options.opinions == Opinions::ridge;
  const features::Points points = ridge ? points_of(pool) : features::Points{};
  std::vector<double> opinion =
      ridge ? scores_of_labels(points, known, classes)
            : opinions(*fitted(family, facts, request, labelled, rng), pool, classes);
  const auto put_labels = [&] {
    for (const auto& [row, label] : known)
      for (std::size_t c = 0; c < classes; ++c) opinion[row * classes + c] = c == label ? 1 : 0;
  };
  put_labels();
  graph->smooth(opinion, classes, options.steps, options.share);
  put_labels();
  for (int round = 0; ridge && round < kRounds; ++round) {
    if (round > 0) {
      to_probabilities(opinion, classes);
      graph->smooth(opinion, classes, options.steps, options.share);
    }
    opinion = settled(points, opinion, classes);
  }
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

std::vector<double> spreads_of(const Table& table) {
  const features::Points points = points_of(table);
  std::vector<double> mean(points.width, 0.0), square(points.width, 0.0);
  const auto n = static_cast<double>(std::max<std::size_t>(points.rows(), 1));
  for (std::size_t i = 0; i < points.rows(); ++i)
    for (std::size_t j = 0; j < points.width; ++j) mean[j] += points.row(i)[j] / n;
  for (std::size_t i = 0; i < points.rows(); ++i)
    for (std::size_t j = 0; j < points.width; ++j) {
      const double d = points.row(i)[j] - mean[j];
      square[j] += d * d / n;
    }
  for (double& s : square) s = std::sqrt(s);
  return square;
}

}  // namespace sotto::pate
