// Detail: the declared groups of records, by the class that is learnt or by a column of categories.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sotto/deep/training/records.hpp"
#include "sotto/learning/facts.hpp"

namespace sotto::deep {

struct RecordGroups {
  std::size_t count = 0;                               // public
  std::function<torch::Tensor(const Batch&)> of = {};  // of each record of a batch, from 0; private
};

// column: a categorical or boolean feature; none: the class. Throws InvalidArgument.
RecordGroups record_groups(const Facts& facts, const std::optional<std::string>& column);

}  // namespace sotto::deep
