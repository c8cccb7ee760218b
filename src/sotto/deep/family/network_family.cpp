#include "sotto/deep/family/network_family.hpp"

#include "sotto/deep/family/declaration.hpp"
#include "sotto/deep/family/detail/network_model.hpp"
#include "sotto/deep/family/detail/network_plan.hpp"
#include "sotto/learning/basis.hpp"

namespace sotto::deep {
namespace {

// What bends is easier to learn from hat functions, for a class.
Schema prepare(Schema schema, const TrainingRequest&) {
  const ColumnSchema* target = schema.target();
  const bool number = target != nullptr && target->type == ColumnType::numeric;
  return settle_basis(std::move(schema), !number);
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  return std::make_unique<NetworkTraining>(facts, request);
}

}  // namespace

Family network_family() {
  Family family = network_declaration();
  family.prepare = prepare;
  family.plan = plan;
  family.load = load_network;
  return family;
}

}  // namespace sotto::deep
