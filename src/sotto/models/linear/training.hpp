// Training a linear model on a table: from a schema, a budget and a method to a released model.
//
// What       Chooses the route to privacy and its constants from public facts only, states the cost, then fits.
// Guarantee  That of the route chosen (noisy_gradient.hpp, sufficient_statistics.hpp, objective_perturbation.hpp,
//            output_perturbation.hpp), with the unit of the schema: a user with at most k records counts k times.
// Method     `automatic`: regression → sufficient statistics; classification → gradient with a δ or ρ, objective perturbation with a
//            pure ε. gradient and sufficient_statistics turn an (ε, δ) into the ρ of the Gaussian with that exact profile; the
//            accountant has the last word on ε.
// Numerics   ρ is lowered by 1e-6 until the accountant confirms the asked ε.
// Reference  docs/math/linear-models.md.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/progress.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/table.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/noisy_gradient.hpp"
#include "sotto/models/linear/objective_perturbation.hpp"
#include "sotto/models/linear/output_perturbation.hpp"
#include "sotto/models/linear/sufficient_statistics.hpp"

namespace sotto {

enum class LinearKind { logistic, svm, linear };
enum class Method { automatic, gradient, objective, output, sufficient_statistics, none };

std::string_view name(LinearKind kind);
LinearKind parse_linear_kind(std::string_view text);  // throws InvalidArgument
std::string_view name(Method method);                 // "auto", "gradient", …
Method parse_method(std::string_view text);           // throws InvalidArgument

struct TrainingRequest {
  LinearKind kind = LinearKind::logistic;
  Method method = Method::automatic;
  std::optional<Budget> budget = {};  // required unless the method is none
  std::uint64_t iterations = 0;       // of gradient; 0: by the public rule
  double regularisation = 0;          // 0: by the method's own rule
  unsigned threads = 0;
};

class LinearTraining {
 public:
  // Public facts only; the encoder must outlive the plan. Throws InvalidArgument, Unsupported or DataError.
  LinearTraining(const Encoder& encoder, const TrainingRequest& request);

  Method method() const { return method_; }
  const std::string& reason() const { return reason_; }  // why this method
  std::optional<Event> event() const;                    // none: NOT PRIVATE
  Relation relation() const;
  std::string describe() const;
  std::vector<std::string> assumptions() const;

  struct Fit {
    LinearModel model;
    std::optional<Event> event;
  };
  Fit run(const Table& table, Rng& rng, Progress* progress = nullptr) const;

 private:
  // monostate: no privacy.
  using Plan = std::variant<std::monostate, NoisyGradientPlan, ObjectivePerturbationPlan,
                            OutputPerturbationPlan, SufficientStatisticsPlan>;
  void choose(const TrainingRequest& request);
  Plan make_plan(const TrainingRequest& request) const;
  Plan make_gaussian_plan(const TrainingRequest& request, double rho) const;
  bool within(const Budget& budget, const Plan& plan) const;
  ExactRows exact_rows(const Table& table) const;

  const Encoder& encoder_;
  LinearKind kind_;
  Method method_;
  std::string reason_;
  std::size_t outputs_ = 1, dimension_;
  std::uint64_t rows_ = 0;
  Plan plan_;
};

}  // namespace sotto
