// Some of the rows, bit for bit: for parts of the data and sampled batches.
#pragma once

#include <span>

#include "sotto/models/linear/exact_rows.hpp"

namespace sotto {

// The rows with these numbers, in this order. The intercept has become a coordinate like any other:
// dimension() is unchanged, scale() is 1 and intercept() is 0.
ExactRows select_rows(const ExactRows& rows, std::span<const std::size_t> numbers);

}  // namespace sotto
