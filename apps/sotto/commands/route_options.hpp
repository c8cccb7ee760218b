// Options of single routes to privacy, for the commands that train linear models.
#pragma once

#include "../command.hpp"
#include "sotto/models/linear/linear_routes.hpp"

namespace sotto::cli {

std::vector<std::string> method_names();
std::vector<Option> route_options();
RouteOptions route_options_of(const Arguments& arguments);

}  // namespace sotto::cli
