// Detail: what the cells of a Hadamard sketch say about keys, and shares from the content of cells.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/local/client/sketch.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local::detail {

// Debiased content of the cells of each key, over all rows.
std::vector<double> hadamard_contents(std::span<const std::int64_t> cells,
                                      const HadamardSketch& sketch,
                                      const std::vector<std::uint64_t>& keys);

// f̂ from content/n, and its variance: of one report, and of the hash functions that all reports
// share.
Frequencies debiased(const std::vector<double>& content, double n, const SketchShape& shape,
                     double report_variance);

std::vector<std::uint64_t> keys_of(const std::vector<std::string>& words);

}  // namespace sotto::local::detail
