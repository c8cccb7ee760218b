#include "sotto/accounting/bound.hpp"

#include <fmt/format.h>

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

Accountant parse_accountant(std::string_view text) {
  for (const Named& n : kNames) {
    if (n.name == text) return n.accountant;
  }
  throw InvalidArgument(fmt::format("unknown accountant '{}'", text),
                        "use auto, pld, rdp, zcdp, gdp, basic, advanced or optimal");
}

}  // namespace sotto
