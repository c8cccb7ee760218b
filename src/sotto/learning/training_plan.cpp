#include "sotto/learning/training_plan.hpp"

namespace sotto {
namespace {

// The plan as a Release wants it: with an event for certain.
struct Spent {
  const TrainingPlan& plan;
  Event event() const { return *plan.event(); }
  Relation relation() const { return plan.relation(); }
  std::string describe() const { return plan.explain().words; }
};

}  // namespace

TrainedModel TrainingPlan::finished(std::unique_ptr<Model> model) const {
  if (!event()) return Unprotected<std::unique_ptr<Model>>{std::move(model)};
  return Release<std::unique_ptr<Model>>(std::move(model), Spent{*this});
}

}  // namespace sotto
