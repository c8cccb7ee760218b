#include "sotto/learning/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"

namespace sotto {
namespace {

const Kind* kind_for(const Family& family, Task task) {
  for (const Kind& kind : family.kinds)
    if (std::find(kind.tasks.begin(), kind.tasks.end(), task) != kind.tasks.end()) return &kind;
  return nullptr;
}

}  // namespace

Situation situation_of(const Facts& facts, const Budget& budget) {
  const double moved =
      contribution_factor(facts.relation) * static_cast<double>(facts.contributions);
  const bool pure = budget.is_pure();
  const double mu = pure ? budget.pure_epsilon() : std::sqrt(2 * rho_of(budget));
  return {.signal = static_cast<double>(facts.declared_rows()) * mu / moved,
          .columns = facts.encoder->features().size(),
          .classes = facts.classes().size(),
          .pure = pure};
}

Suggestion suggest(std::span<const Family> families, const Facts& facts, const Budget& budget) {
  if (!facts.encoder || !facts.encoder->has_target())
    throw DataError("the schema names no target, so no model can be chosen",
                    "give a column role = \"target\", or use `target`");
  const Situation situation = situation_of(facts, budget);
  const Task task = situation.classes == 0 ? Task::regress : Task::classify;
  Suggestion best{nullptr, "", ""};
  Merit most{0, ""};
  for (const Family& family : families) {
    if (family.merit == nullptr || family.plan == nullptr) continue;
    const Kind* const kind = kind_for(family, task);
    if (kind == nullptr) continue;
    const Merit merit = family.merit(situation);
    if (merit.value > most.value) {
      most = merit;
      best = {&family, kind->name, ""};
    }
  }
  if (best.family == nullptr) throw Unsupported("no family suits this table and budget");
  best.reason =
      fmt::format("{} columns, {}, records per unit of noise: {:.0f}{}; {}", situation.columns,
                  task == Task::regress ? std::string("a number")
                                        : fmt::format("{} classes", situation.classes),
                  situation.signal, situation.pure ? ", pure epsilon" : "", most.reason);
  return best;
}

}  // namespace sotto
