// Detail: arrays whose columns are plain numbers become tables without being written as text.
//
// The result, the refusals and the order of the records are those of the same numbers in a CSV
// file; only the way is shorter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/data/detail/array_text.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

// The columns of the array: those of the schema, or those without the target, for prediction.
std::vector<std::string> array_names(const ArrayText& array, const Encoder& encoder,
                                     const TableOptions& options);

// Whether no column that is read means more than its number does.
bool all_numbers(const Encoder& encoder, const TableOptions& options);

// As detail::map_parts; returns the number of rows.
std::uint64_t map_array(const ArrayText& array, const std::string& path, const Encoder& encoder,
                        const TableOptions& options,
                        const std::function<detail::AnyResult(Table&&)>& map,
                        const std::function<void(detail::AnyResult&&)>& consume);

}  // namespace sotto
