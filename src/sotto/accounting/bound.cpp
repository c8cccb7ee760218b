#include "sotto/accounting/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

struct Named {
  Accountant accountant;
  std::string_view name;
};
constexpr std::array<Named, 8> kNames = {{{Accountant::automatic, "auto"},
                                          {Accountant::pld, "pld"},
                                          {Accountant::rdp, "rdp"},
                                          {Accountant::zcdp, "zcdp"},
                                          {Accountant::gdp, "gdp"},
                                          {Accountant::basic, "basic"},
                                          {Accountant::advanced, "advanced"},
                                          {Accountant::optimal, "optimal"}}};

}  // namespace

std::string_view name(Accountant accountant) {
  for (const Named& n : kNames) {
    if (n.accountant == accountant) return n.name;
  }
  invariant_broken("an accountant without a name");
}

double consistent_lower(double lower, double upper, std::string_view what) {
  constexpr double kRounding = 1e-9, kNothing = 1e-290;
  if (lower > upper * (1 + kRounding) + kNothing) {
    invariant_broken(fmt::format("the bounds of {} exclude each other: at least {} and at most {}",
                                 what, lower, upper));
  }
  return std::clamp(lower, 0.0, upper);
}

Accountant parse_accountant(std::string_view text) {
  for (const Named& n : kNames) {
    if (n.name == text) return n.accountant;
  }
  throw InvalidArgument(fmt::format("unknown accountant '{}'", text),
                        "use auto, pld, rdp, zcdp, gdp, basic, advanced or optimal");
}

}  // namespace sotto
