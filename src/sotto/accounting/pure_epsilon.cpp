#include "sotto/accounting/pure_epsilon.hpp"

#include <vector>

#include "sotto/accounting/basic.hpp"
#include "sotto/accounting/event_epsilon.hpp"
#include "sotto/accounting/run_length.hpp"

namespace sotto {

double pure_epsilon(const Spec& spec) {
  std::vector<ApproximateDp> parts;
  for (const Run& run : run_lengths(spec.event())) {
    parts.push_back({event_epsilon(run.event, spec.relation, 0), 0, run.count});
  }
  return basic_composition(parts).epsilon;
}

}  // namespace sotto
