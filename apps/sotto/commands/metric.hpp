// One figure for how good a model is: the names that --metric takes, and their values.
#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"
#include "sotto/learning/evaluation.hpp"

namespace sotto::cli {

// help: what it is for.
Option metric_option(const std::string& help);

// The default where none is given; refuses what the target does not have. classes: 0 for a number.
std::string metric_named(const std::string& asked, std::size_t classes);

// Whether smaller is better.
bool is_loss(const std::string& metric);

double measured(const std::string& metric, std::size_t classes, const std::vector<ScoredRow>& rows);

}  // namespace sotto::cli
