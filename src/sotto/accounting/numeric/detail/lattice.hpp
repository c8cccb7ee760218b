// Detail: distances between values on a lattice. docs/events.md, "Noise on a lattice", says what an
// event's sensitivity means there.
//
// The noised values lie on the lattice, so along one coordinate (and in the ℓ1 norm) neighbours are
// a whole number of steps apart. A stated sensitivity may lie between two such numbers: upper
// bounds take the larger one or the sensitivity as it is, lower bounds the smaller.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

// distance ÷ granularity as whole steps; a quotient within a few roundings of a whole number is
// that number.
double lattice_steps_up(double distance, double granularity);
double lattice_steps_down(double distance, double granularity);

// A vector of whole steps, of at most `dimension` entries, whose ℓ2 norm is as close below `steps`
// as greedy choice finds.
std::vector<double> lattice_vector_below(double steps, std::uint64_t dimension);

}  // namespace sotto
