// Audits of training by canaries: what sotto audit train finds out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "commands/canaries.hpp"
#include "commands/many_models.hpp"
#include "commands/training.hpp"
#include "shell/context.hpp"
#include "shell/workshop.hpp"
#include "sotto/audit/scores.hpp"

namespace sotto::cli {

// What the canaries proved.
struct TrainingFinding {
  double epsilon_lower = 0, ceiling = 0;
  audit::ScoreAudit scores;
  std::size_t canaries = 0, models = 0, in = 0;
};

inline constexpr std::size_t kLeastCanaries = 4;  // of one run

class TrainingAudit {
 public:
  TrainingAudit(const Arguments& arguments, const Arguments& inner, Context& context);

  TrainingFinding found();
  bool by_gradient() const { return arguments_.text("canary") == "gradient"; }
  bool white_box() const { return by_gradient() || arguments_.text("see") == "releases"; }

  std::optional<double> claim() const { return claim_; }
  const std::string& method() const { return method_; }
  double delta() const { return inner_.maybe_number("delta").value_or(0); }
  Relation relation() const { return facts_.relation; }
  const std::string& kind() const { return choice_.kind; }

 private:
  std::unique_ptr<TrainingPlan> new_plan() const;
  RecordSet loaded(const std::string& name, const std::string& text, const Encoder& encoder);
  void check_number(std::size_t canaries) const;  // of a --canary-file; throws DataError
  std::vector<std::string> canary_lines(const CsvText& text, const Canaries& canaries);
  std::vector<std::vector<audit::Sight>> sights(std::size_t count, const RecordSet& probe,
                                                std::function<const RecordSet&(std::size_t)> data);

  // The data with those canaries that are in.
  using DataWith = std::function<RecordSet(const std::vector<bool>& in)>;
  TrainingFinding found_in(const RecordSet& probe, const DataWith& data_with);
  std::vector<bool> coins(std::size_t count);
  // Each canary by a coin of its own; models without any canary tell how hard each is.
  TrainingFinding one_run(const RecordSet& probe, const DataWith& data_with);
  // One canary, in every other model.
  TrainingFinding many_runs(const RecordSet& probe, const DataWith& data_with);
  TrainingFinding of_one_run(const std::vector<double>& members,
                             const std::vector<double>& others) const;
  TrainingFinding of_many_runs(const std::vector<double>& members,
                               const std::vector<double>& others) const;

  // White box, whatever the family: how likely all releases are with a canary and without it.
  TrainingFinding from_releases(std::size_t canaries, const DataWith& data_with);

  TrainingFinding from_images();
  RecordSet given_images(const std::string& folder) const;

  // White box: scores from all that was released on the way.
  TrainingFinding from_gradients();
  audit::ScoreOptions options() const {
    return {.delta = delta(), .confidence = arguments_.number("confidence")};
  }

  const Arguments &arguments_, &inner_;
  Context& context_;
  Suggestion choice_;
  TrainingRequest request_;
  Facts facts_, any_;
  Rng rng_;
  std::mt19937_64 random_;
  Workshop workshop_;
  std::string method_;
  std::optional<double> claim_;
};

}  // namespace sotto::cli
