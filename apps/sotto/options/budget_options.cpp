#include "budget_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto::cli {

std::vector<Option> budget_options() {
  return {{.name = "epsilon",
           .type = Type::number,
           .value = "E",
           .help = "budget: pure epsilon, or with --delta (epsilon, delta)",
           .range = Range::above(0),
           .hint = "typical values lie between 0.1 (strong) and 10 (weak)",
           .group = "Privacy"},
          {.name = "delta",
           .type = Type::number,
           .value = "D",
           .help = "budget: failure probability, well below 1 / number of rows",
           .range = Range::inside(0, 1),
           .hint = "choose delta well below 1 / (number of rows), e.g. 1e-6",
           .group = "Privacy"},
          {.name = "rho",
           .type = Type::number,
           .value = "R",
           .help = "budget: zero-concentrated DP (Gaussian noise) instead of --epsilon; with "
                   "--delta the epsilon is computed",
           .range = Range::above(0),
           .hint = "rho 0.005 is about as strong as epsilon 0.5 with delta 1e-6",
           .group = "Privacy"}};
}

Option dry_run_option() {
  return {.name = "dry-run",
          .type = Type::flag,
          .help = "show what would be done and its cost; read no data",
          .group = "Privacy"};
}

bool has_budget(const Arguments& arguments) {
  return arguments.given("epsilon") || arguments.given("rho");
}

namespace {
// Not every command takes a rho.
std::optional<double> maybe(const Arguments& arguments, const char* option) {
  if (find_option(arguments.command(), option) == nullptr) return std::nullopt;
  return arguments.maybe_number(option);
}
}  // namespace

Budget budget_of(const Arguments& arguments) {
  const auto epsilon = maybe(arguments, "epsilon"), delta = maybe(arguments, "delta"),
             rho = maybe(arguments, "rho");
  if (epsilon && rho)
    throw InvalidArgument("--epsilon and --rho are both given", "choose one kind of budget");
  if (rho) return Budget::zcdp(*rho);
  if (!epsilon) {
    throw InvalidArgument(
        fmt::format("{} needs a budget: --epsilon E, --epsilon E --delta D, or --rho R",
                    arguments.title()),
        "for example --epsilon 0.5");
  }
  return delta ? Budget::approximate(*epsilon, *delta) : Budget::pure(*epsilon);
}

void check_delta(const Arguments& arguments, std::uint64_t rows, const char* whose,
                 Context& context) {
  const auto delta = arguments.maybe_number("delta");
  if (!delta || rows == 0) return;
  const auto n = static_cast<double>(rows);
  if (*delta >= 1 / std::sqrt(n)) {
    throw InvalidArgument(
        fmt::format("--delta is {}; for {} {} it must be below 1/sqrt(rows) = {:.3g}", *delta, rows,
                    whose, 1 / std::sqrt(n)),
        "choose delta well below 1/rows");
  }
  if (*delta >= 1 / n) {
    context.note(
        fmt::format("sotto: warning: --delta {} is not below 1/rows = {:.3g}; such a delta allows "
                    "revealing whole rows",
                    *delta, 1 / n));
  }
}

}  // namespace sotto::cli
