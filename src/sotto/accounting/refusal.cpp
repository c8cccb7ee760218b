#include "sotto/accounting/detail/refusal.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void refuse(std::string_view accountant, std::string_view event, std::string_view others) {
  throw Unsupported(
      fmt::format("the {} accountant cannot express the event: {}", accountant, event),
      others.empty() ? std::string("no accountant can; state a weaker event that covers it")
                     : fmt::format("these accountants can: {}", others));
}

void refuse_relation(std::string_view event, Relation relation, std::string_view allowed) {
  throw Unsupported(fmt::format("{} has no guarantee under the relation {}", event, name(relation)),
                    fmt::format("use the relation {}", allowed));
}

void refuse_failure_probability(std::string_view accountant, double failure, double delta) {
  throw AccountingError(
      fmt::format(
          "the events fail with probability {:.6g} already, but delta is {:.6g} (accountant {})",
          failure, delta, accountant),
      "ask for a larger delta, or use mechanisms with a smaller delta of their own");
}

void refuse_unbounded(std::string_view accountant) {
  throw AccountingError(
      fmt::format("the {} accountant finds no finite bound", accountant),
      "the noise is so small that nothing is bounded; use more noise or fewer repetitions");
}

}  // namespace sotto
