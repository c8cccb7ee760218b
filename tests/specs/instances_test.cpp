// Every claim against mechanisms written out from the definition of the event, for every kind of
// event and every relation.
#include "specs/instances.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/accounting/account.hpp"

namespace sotto::specs::instances_test {

constexpr double kRounding =
    1e-12;  // of probabilities that are differences of distribution functions

double worst_at(const Instance& instance, double epsilon) {
  double worst = 0;
  for (const Pair& pair : instance.pairs) worst = std::max(worst, hockey_stick(pair, epsilon));
  return worst;
}

std::string words(const Instance& i, Accountant a, double delta) {
  return i.name + " by " + std::string(name(a)) + " at " + std::to_string(delta) + ": " +
         to_json(i.spec).dump();
}

const std::vector<Instance>& all() {
  static const std::vector<Instance> list = instances();
  return list;
}

template <class Ask, class Check>
void for_each_answer(const Ask& ask, const Check& check) {
  for (const Instance& instance : all()) {
    for (const Accountant a : {Accountant::pld, Accountant::rdp, Accountant::zcdp, Accountant::gdp,
                               Accountant::basic, Accountant::advanced, Accountant::optimal}) {
      for (const double delta : {0.05, 1e-5}) {
        try {
          check(instance, a, delta, ask(instance, a, delta));
        } catch (const Unsupported&) {
          break;  // this accountant has no answer for the event
        } catch (const AccountingError&) {
        }
      }
    }
  }
}

TEST(Instances, NoMechanismLosesMoreThanWasClaimedForIt) {
  std::map<std::string, std::set<std::string>> covered;
  for_each_answer(
      [](const Instance& i, Accountant a, double delta) {
        return epsilon(i.spec, Delta(delta), {.accountant = a, .tolerance = 3e-2});
      },
      [&](const Instance& i, Accountant a, double delta, const Bound& b) {
        EXPECT_LE(worst_at(i, b.upper), delta + kRounding) << words(i, a, delta);
        if (i.worst && b.lower > 0) {
          EXPECT_GE(worst_at(i, b.lower * (1 - 1e-7)), delta * (1 - 1e-6) - kRounding)
              << words(i, a, delta);
        }
        covered[std::string(i.spec.events[0].name())].insert(std::string(name(i.spec.relation)));
      });
  // Every kind of event was asked about, under every relation that it is defined for.
  for (const char* kind :
       {"gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "randomized_response",
        "exponential", "pure", "approximate", "zcdp", "tcdp", "gdp", "gnmax", "lnmax", "sampled",
        "repeat", "parallel", "private_selection"})
    EXPECT_EQ(covered[kind].size(), 3u) << kind;
  EXPECT_EQ(covered["gaussian_mixture"].size(), 2u);
  EXPECT_EQ(covered["shuffled"].size(), 2u);
}

TEST(Instances, NoMechanismHasALargerDeltaThanWasClaimedForIt) {
  for (const Instance& i : all()) {
    for (const Accountant a : {Accountant::pld, Accountant::rdp}) {
      for (const double epsilon : {0.0, 1.5}) {
        try {
          const Bound b = delta(i.spec, epsilon, {.accountant = a, .tolerance = 3e-2});
          const double truth = worst_at(i, epsilon);
          EXPECT_GE(b.upper, truth - kRounding) << words(i, a, epsilon);
          if (i.worst) {
            EXPECT_LE(b.lower, truth * (1 + 1e-6) + kRounding) << words(i, a, epsilon);
          }
        } catch (const Unsupported&) {
          break;
        } catch (const AccountingError&) {
        }
      }
    }
  }
}

}  // namespace sotto::specs::instances_test
