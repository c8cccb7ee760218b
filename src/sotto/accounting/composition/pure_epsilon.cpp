#include "sotto/accounting/composition/detail/pure_epsilon.hpp"

#include <vector>

#include "sotto/accounting/composition/basic.hpp"
#include "sotto/accounting/composition/detail/event_epsilon.hpp"
#include "sotto/accounting/composition/run_length.hpp"

namespace sotto {

double pure_epsilon(const Spec& spec) {
  std::vector<ApproximateDp> parts;
  for (const Run& run : run_lengths(spec.event())) {
    parts.push_back({event_epsilon(run.event, spec.relation, 0), 0, run.count});
  }
  return basic_composition(parts).epsilon;
}

}  // namespace sotto
