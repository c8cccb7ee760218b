// TransformPlan: the plan of a transformation says what its model will write, so that a pipeline
// can plan what follows.
#pragma once

#include <vector>

#include "sotto/learning/training_plan.hpp"

namespace sotto {

class TransformPlan : public TrainingPlan {
 public:
  // Names and labels are right before any data is read; bounds are those of the model itself.
  virtual std::vector<OutputColumn> outputs() const = 0;
};

}  // namespace sotto
