// Teachers: models that learned, without noise, from disjoint parts of the private records.
//
// What       train_teachers() trains one model for each part; count_votes() asks them about public
//            records.
// Guarantee  None of its own: models and votes are as private as the records. A teacher depends on
//            its part alone, so that one record moves one vote of every query. A part without
//            records, a part that the family cannot learn from and a model that says no class all
//            vote the same way whatever the data is: teacher i for class i mod classes. Nothing
//            tells how many did.
// Method     Any family with the method "none". With a public graph each teacher's opinion of the
//            public records is smoothed over it before it votes (features/neighbour_graph.hpp).
// Numerics   None.
// Reference  [PAEGT17], [PSMRTE18]; docs/math/pate.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/progress.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/pate/votes.hpp"

namespace sotto::pate {

// Null: no model came of its part.
using Teachers = std::vector<std::unique_ptr<Model>>;

struct TeacherControl {
  ProgressOptions progress = {.label = {}, .total = 0, .enabled = false};
  std::function<bool()> stop = {};
  // A teacher that was finished before, and where a new one is kept. A kept one may be null.
  std::function<bool(std::size_t teacher)> has = {};
  std::function<void(std::size_t teacher, std::optional<TrainedModel> model)> keep = {};
  unsigned threads = 0;
};

// The request's method must be "none". Trains those that `has` does not know. Throws Error with the
// code `interrupted` when stop() said so.
void train_teachers(const Family& family, const Facts& facts, const TrainingRequest& request,
                    const Table& records, std::uint64_t teachers, const std::string& key, Rng& rng,
                    const TeacherControl& control);

// Class probabilities of each record, records × classes; those of a class that is none are 0.
std::vector<double> opinions(const Model& model, const Table& records, std::size_t classes);

// Changes what a teacher thinks of all public records, by public facts alone.
using Smoothing = std::function<void(std::vector<double>& opinions)>;

// queries: rows of the pool. smoothing: needs opinions of the whole pool; none: of the queries.
Votes count_votes(const Teachers& teachers, const Table& pool, std::span<const std::size_t> queries,
                  std::size_t classes, const Smoothing& smoothing = {}, unsigned threads = 0);

}  // namespace sotto::pate
