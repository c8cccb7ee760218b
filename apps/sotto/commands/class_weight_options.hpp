// --class-weight and --class-shares: rare classes that count as much as common ones.
#pragma once

#include <memory>

#include "commands.hpp"
#include "sotto/learning/family.hpp"

namespace sotto::cli {

std::vector<Option> class_weight_options();

// plan_training, with the class weights that were asked for. Throws InvalidArgument for weights or
// shares that do not name every class once, and for a target without classes.
std::unique_ptr<TrainingPlan> plan_weighted(const Arguments& arguments, const Family& family,
                                            const Facts& facts, const TrainingRequest& request);

}  // namespace sotto::cli
