// From the options of `sotto train` to a plan and a trainer's settings: public facts only.
#pragma once

#include <optional>

#include "arguments.hpp"
#include "data.hpp"
#include "sotto/deep/training/trainer.hpp"

namespace sotto::cli {

struct TrainRequest {
  std::optional<deep::DpSgdPlan> plan;  // none: --method none, NOT PRIVATE
  deep::PlainPlan plain;
  deep::TrainerOptions trainer;
};

// From --method, --epsilon and the rest of `sotto train`. Throws InvalidArgument, Unsupported, BudgetExceeded.
TrainRequest train_request(const Arguments& arguments, const DeepFacts& facts,
                           std::uint64_t parameters);
// The same for a given ε; none: without privacy.
TrainRequest request_at(const Arguments& arguments, const DeepFacts& facts,
                        std::uint64_t parameters, std::optional<double> epsilon);

}  // namespace sotto::cli
