// The student: a model of public records, from released labels only.
//
// What       train_student() fits any family to the records that have a label. With a graph of
//            public records it first carries the labels on: what the student thinks of all public
//            records is smoothed over the graph, and a second student learns from that.
// Guarantee  Post-processing: labels that were released, and public records. It costs nothing.
// Method     Pseudo-labels: opinions of a first student, the released labels put in their place,
//            smoothed; each record counts with the class that is likeliest then. `ridge`: the
//            first opinions are scores of least squares, and once labels are carried on another
//            fit of them to all records decides, which forgives single wrong labels.
// Numerics   None.
// Reference  [ZBLWS03], [PAEGT17]; docs/math/pate.md.
#pragma once

#include <memory>

#include "sotto/features/neighbour_graph.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/pate/aggregator.hpp"

namespace sotto::pate {

enum class Opinions { student, ridge };

struct StudentOptions {
  std::size_t steps = 6;  // of smoothing
  double share = .7;      // of the neighbours in each
  Opinions opinions = Opinions::student;
};

// pool: public records without targets. queries: the rows of the pool that labels are about. Throws
// InvalidArgument when no label was released.
std::unique_ptr<Model> train_student(const Family& family, const Facts& facts,
                                     const TrainingRequest& request, const Table& pool,
                                     std::span<const std::size_t> queries, const Labels& labels,
                                     const features::NeighbourGraph* graph, Rng& rng,
                                     const StudentOptions& options = {});

// Encoded rows as points of unit length, for graphs and medoids.
features::Points points_of(const Table& table);

// The standard deviation of each coordinate of an encoded row.
std::vector<double> spreads_of(const Table& table);

}  // namespace sotto::pate
