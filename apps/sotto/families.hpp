// The one list of families. Whatever depends on a family is made from it: no command names one.
#pragma once

#include <vector>

#include "options/command.hpp"
#include "sotto/learning/family.hpp"

namespace sotto::cli {

const std::vector<Family>& families();

// Puts a family with its functions in the place of its declaration: for the executable that hosts
// it, before anything else is done.
void host(Family family);

// The family of --model, which names a kind.
const Family& family_named(const Arguments& arguments);
// Whether --model leaves the choice to us.
bool is_automatic(const Arguments& arguments);

// --model KIND for commands that train, and the options of each kind. many: for commands that train
// many models at once, which have no automatic choice.
Option kind_option(bool many);
std::vector<Variant> kind_variants(bool many);
// The same for commands that train models of one task, without a default.
Option kind_option(Task task);
std::vector<Variant> kind_variants(Task task);

}  // namespace sotto::cli
