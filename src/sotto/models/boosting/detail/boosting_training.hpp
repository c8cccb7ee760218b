// Detail: the plan of boosting (boosting_family.hpp).
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

struct BoostingOptions {
  std::optional<std::uint64_t> trees = {};  // left open: by a public rule
  std::uint64_t batch = 4;
  bool after_kernel = false;  // the trees go on from a kernel model
};

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> boosting_training(const Facts& facts, const TrainingRequest& request,
                                                const BoostingOptions& options);

}  // namespace sotto
