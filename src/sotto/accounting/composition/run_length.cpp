#include "sotto/accounting/composition/run_length.hpp"

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

void collect(const Event& event, std::uint64_t count, std::vector<Run>& runs) {
  if (const auto* r = event.get_if<RepeatEvent>()) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(count, r->count, &product))
      throw AccountingError("the number of repetitions exceeds 2^64");
    return collect(*r->event, product, runs);
  }
  if (const auto* c = event.get_if<ComposeEvent>()) {
    for (const Event& e : c->events) collect(e, count, runs);
    return;
  }
  for (Run& run : runs) {
    if (run.event != event) continue;
    if (__builtin_add_overflow(run.count, count, &run.count))
      throw AccountingError("the number of repetitions exceeds 2^64");
    return;
  }
  runs.push_back({event, count});
}

}  // namespace

std::vector<Run> run_lengths(const Event& event) {
  std::vector<Run> runs;
  collect(event, 1, runs);
  return runs;
}

}  // namespace sotto
