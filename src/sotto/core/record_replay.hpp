// Record-replay: run a private computation on neighbouring data with the same randomness and
// compare what it noised.
//
// What       check_neighbours(a, b) runs two closures, each over its own data set, on one tape of
//            randomness.
// Catches    (1) a noised query that moves by more than its declared sensitivity between
//            neighbours, (2) data-dependent control flow: another number, order, kind, shape, scale
//            or declared sensitivity of queries,
//            (3) data-dependent use of randomness outside a mechanism (sampling a batch,
//            shuffling), (4) an event that differs, when the closures return one.
// Method     Every query gets its own stream, keyed by its number, so a mechanism may use its
//            stream as it needs; the second run is given the results of the first.
// Misses     A value released without going through Rng::query: whoever runs whole commands
//            compares all that is visible for that (sotto audit replay).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::replay {

// One noised query as seen by the observer.
struct QueryRecord {
  std::string mechanism;
  std::vector<long double> values;
  double sensitivity, scale;
  Norm norm;
  std::uint64_t words_before;  // drawn from the main stream before this query
  std::vector<long double>
      result;  // what the mechanism released; empty when it did not hand it over
};

struct Recording {
  std::vector<QueryRecord> queries;
  std::uint64_t words_total = 0;
  std::optional<Event> event;
};

// Runs the computation on the tape given by the seed and records what it noised.
// With a recording to follow, every mechanism releases what it released there: adaptive
// computations then go through the same public past, and the comparison of queries means what the
// definition of differential privacy means.
Recording record(std::uint64_t seed, const std::function<std::optional<Event>(Rng&)>& run,
                 const Recording* follow = nullptr);

// Empty when the two recordings agree as neighbours must; else what differs, in words.
std::string difference(const Recording& a, const Recording& b);

// record both, compare; empty when fine. Meant for EXPECT_EQ(check_neighbours(…), "").
std::string check_neighbours(const std::function<std::optional<Event>(Rng&)>& run_on_a,
                             const std::function<std::optional<Event>(Rng&)>& run_on_b,
                             std::uint64_t seed = 1);

// The largest distance between queries of two recordings as a share of the declared sensitivity; 0
// without queries.
double largest_move(const Recording& a, const Recording& b);

// ‖a − b‖ in the norm.
long double norm_of_difference(const std::vector<long double>& a, const std::vector<long double>& b,
                               Norm norm);

}  // namespace sotto::replay
