// Seats: on which row of which physical batch each record of a step sits.
//
// What       in_order: the records one after the other, in parts of `most` rows and a rest.
//            dealt: the records dealt like cards to a public number of parts, as many rows as there
//            are records, or filled up with empty rows to one of some public sizes.
//            at_random: the records on random rows of batches whose number and size are public; the
//            other rows stay empty.
// Guarantee  at_random: given the rows of the others, a record more or less changes one row and
//            nothing else. Arithmetic rounds a row by where it lies and how many rows there are, so
//            with fixed seats no record changes a bit of another's gradient. dealt: for models that
//            do not use the number of rows (rows/transcript.hpp). In sizes in which rows give the
//            same bits wherever they lie (alike_sizes.hpp) no record changes a bit of another's
//            gradient either. A record more or less takes one row and moves one other record: a
//            uniform order of m + 1 records is one of m in which it took somebody's place, and he
//            the last one. A record in place of another needs no seats for that: in_order does it.
// Method     A uniform injection of records into seats; without one of the records it is a uniform
//            injection of the others. There are 7.2 standard deviations of a Poisson sample more
//            seats than expected records. Should a batch be larger than that (a chance below 1e-12
//            for a step, if there are no more rows than declared), batches are added, and a record
//            more may then add another.
// Reference  docs/math/per-sample-clipping.md, section "Rounding"; docs/math/row-by-row.md, "The
//            number of rows".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto::deep {

// Public: from the plan and the memory alone.
struct SeatPlan {
  std::int64_t rows = 0, parts = 0;
};
// How many records a step may have; expected: the mean of a Poisson sample.
std::int64_t seats_for(double expected);
SeatPlan plan_seats(double expected, std::int64_t most);

// Sizes of physical batches that are worth a trial, whole tiles of products: what samples to expect
// need, and not so many that the trial would take longer than some steps. Ascending; parts of the
// last one hold seats_for(expected). Empty when `most` is too small.
std::vector<std::int64_t> size_candidates(double expected, std::int64_t most);

class Seats {
 public:
  static constexpr std::int64_t kEmpty = -1;

  static Seats in_order(std::vector<std::int64_t> batch, std::int64_t most);
  // sizes: ascending, in uniform order; empty: as many rows as records, at least 2, in the order of
  // the sample.
  static Seats dealt(std::vector<std::int64_t> batch, SeatPlan plan,
                     std::span<const std::int64_t> sizes, Rng& rng);
  static Seats at_random(const std::vector<std::int64_t>& batch, SeatPlan plan, Rng& rng);

  std::int64_t parts() const;
  // The records of one physical batch, or kEmpty.
  std::span<const std::int64_t> part(std::int64_t k) const;

 private:
  // In parts of so many rows and a rest.
  Seats(std::vector<std::int64_t> seats, std::int64_t rows);

  std::vector<std::int64_t> seats_;
  std::vector<std::size_t> ends_;  // of the parts
};

}  // namespace sotto::deep
