#include "sotto/learning/fit.hpp"

#include "sotto/core/error.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {

Fitted fit(const Family& family, const std::string& kind, const Schema& schema,
           const MatrixView& matrix, std::span<const double> targets, const Budget& budget,
           Rng& rng, OptionValues::Raw options) {
  if (std::holds_alternative<ZcdpBudget>(budget.kind())) {
    throw InvalidArgument("a certificate states epsilon and delta; the budget is a rho",
                          "give Budget::approximate(epsilon, delta) or Budget::pure(epsilon)");
  }
  const TrainingRequest request = make_request(family, kind, budget, std::move(options));
  Facts facts = facts_for(family, schema, request);
  const auto plan = plan_training(family, facts, request);
  const Table table = matrix_table(*facts.encoder, matrix, targets);
  TrainedModel model = plan->run(*table_in_memory(table), rng);
  Certificate certificate =
      certify_training(family, facts, *plan, model, request.delta.value_or(0), rng);
  return {std::move(facts), std::move(model), std::move(certificate)};
}

void Fitted::write(const std::string& directory) const {
  write_artifact(directory, model, facts, certificate);
}

std::vector<double> Fitted::apply(const MatrixView& matrix) const {
  return model.value()->apply(matrix_table(*facts.encoder, matrix));
}

}  // namespace sotto
