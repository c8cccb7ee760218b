// What do several releases cost together, and which noise meets a budget?
#include <fmt/core.h>

#include "sotto/accounting.hpp"
#include "sotto/core.hpp"
#include "sotto/mechanisms.hpp"

int main() {
  using namespace sotto;

  // Each plan knows its event before there is data; a training run can be written down as one too.
  const CountPlan count({.relation = Relation::add_remove, .budget = Budget::pure(0.5)});
  const Event step = poisson_sampled(GaussianEvent::from_multiplier(1.1), 0.01);
  const Spec spec{Relation::add_remove, {count.event(), repeat(step, 1000)}};

  const Delta delta(1e-5);
  const Bound best = epsilon(spec, delta);
  fmt::print("together: epsilon between {:.4f} and {:.4f}\n", best.lower, best.upper);
  for (const Comparison& line : compare(spec, delta))
    fmt::print("  {:10} {}\n", name(line.accountant),
               line.bound ? fmt::format("{:.4f}", line.bound->upper) : line.refusal);

  // One "?" in a specification is a question.
  const SpecTemplate question = SpecTemplate::parse(
      R"({"schema": 1, "relation": "add_remove", "events": [{"repeat": {"count": 1000, "event":
          {"sampled": {"scheme": "poisson", "rate": 0.01, "event": {"gaussian": {"noise_multiplier": "?"}}}}}}]})");
  const Calibration answer = calibrate(question, Epsilon(1), delta);
  fmt::print("for epsilon 1: {} = {:.4f}\n", answer.unknown, answer.value);
  return answer.epsilon.upper <= 1 && best.lower <= best.upper ? 0 : 1;
}
