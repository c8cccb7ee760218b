// The budget of a private computation as options, the same for every command that has one.
#pragma once

#include <vector>

#include "commands/commands.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto::cli {

std::vector<Option> budget_options();  // --epsilon, --delta, --rho
Option dry_run_option();

// Whether any budget was given.
bool has_budget(const Arguments& arguments);
// Throws InvalidArgument for a combination without meaning.
Budget budget_of(const Arguments& arguments);

// δ is the chance that anything at all is revealed: 1/n allows publishing one of n rows in full.
// Warns there and refuses at 1/√n. rows: a public number (declared, or exact where the relation
// makes it public); `whose` says so in messages: "declared rows".
void check_delta(const Arguments& arguments, std::uint64_t rows, const char* whose,
                 Context& context);

}  // namespace sotto::cli
