// A budget that remembers: pay first, then compute, then commit. What does not fit is refused.
#include <fmt/core.h>

#include <filesystem>

#include "sotto/core.hpp"
#include "sotto/ledger.hpp"
#include "sotto/mechanisms.hpp"

int main() {
  using namespace sotto;
  const std::filesystem::path place = std::filesystem::temp_directory_path() / "sotto_example_15";
  std::filesystem::remove_all(place);
  std::filesystem::create_directory(place);

  auto ledger = ledger::Ledger::open({.place = place / "budget.db"}, ledger::OpenMode::create);
  ledger::Dataset clinic;
  clinic.name = "clinic";
  clinic.epsilon = 1;
  ledger.create(clinic);

  Rng rng;
  const CountPlan plan({.relation = Relation::add_remove, .budget = Budget::pure(0.4)});
  const auto ask = [&](const std::string& key) {
    const auto reserved = ledger.reserve({.dataset = "clinic",
                                          .spec = {Relation::add_remove, {plan.event()}},
                                          .key = key,
                                          .purpose = "how many visits",
                                          .by = "example"});
    const Release<Statistic> release = plan.run(/*count=*/1234, rng);
    const auto paid = ledger.commit(reserved.entry);
    fmt::print("{}: {} visits, {:.2f} of {:.2f} left\n", key, release.value.value,
               paid.epsilon_left, paid.epsilon_cap);
  };
  ask("monday");
  ask("tuesday");
  try {
    ask("wednesday");
  } catch (const BudgetExceeded& refusal) {
    fmt::print("refused: {}\n", refusal.what());
    return 0;
  }
  return 1;  // the third release does not fit
}
