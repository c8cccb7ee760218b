#include "spec_argument.hpp"

#include "sotto/data/byte_source.hpp"

namespace sotto::cli {

Positional spec_positional() {
  return {.name = "SPEC",
          .help = "specification of the events as JSON; - reads standard input",
          .type = Type::file};
}

std::string read_spec(const Arguments& arguments) {
  constexpr std::size_t kLimit = std::size_t{16} << 20;  // a hundred thousand different events
  return read_all(arguments.positionals().front(), kLimit);
}

std::vector<Option> accountant_options() {
  return {{.name = "accountant",
           .type = Type::choice,
           .value = "NAME",
           .help = "how to account; auto takes the tightest valid upper bound",
           .fallback = "auto",
           .choices = {"auto", "pld", "rdp", "zcdp", "gdp", "basic", "advanced", "optimal"}},
          {.name = "tolerance",
           .type = Type::number,
           .value = "T",
           .help = "wanted relative gap between the upper and the lower bound",
           .fallback = "0.001",
           .range = Range::inside(0, 1)}};
}

AccountOptions account_options(const Arguments& arguments) {
  return {.accountant = parse_accountant(arguments.text("accountant")),
          .tolerance = arguments.number("tolerance")};
}

}  // namespace sotto::cli
