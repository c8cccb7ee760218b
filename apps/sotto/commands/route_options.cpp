#include "route_options.hpp"

#include "../arguments.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/linear/candidates_file.hpp"

namespace sotto::cli {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method method : all_methods()) names.emplace_back(name(method));
  return names;
}

std::vector<Option> route_options() {
  constexpr const char* kGroup = "Method";
  return {
      {.name = "regularisation",
       .type = Type::number,
       .value = "L",
       .help = "weight of the ridge; default by a public rule of the method",
       .range = Range::above(0),
       .group = kGroup},
      {.name = "iterations",
       .type = Type::whole,
       .value = "T",
       .help = "gradient: steps; default by a public rule",
       .range = Range::from(1),
       .group = kGroup},
      {.name = "batch",
       .type = Type::number,
       .value = "B",
       .help = "gradient: expected size of a Poisson-sampled mini-batch; default all rows",
       .range = Range::above(0),
       .group = kGroup},
      {.name = "iterate",
       .type = Type::choice,
       .value = "WHICH",
       .help = "gradient: release the average of the iterates (default) or the last one; networks: "
               "the last one (default), the average or a moving average",
       .choices = {"average", "last", "ema"},
       .group = kGroup},
      {.name = "radius",
       .type = Type::number,
       .value = "R",
       .help =
           "ball of parameters: gradient with --batch and networks project to it, sample_aggregate "
           "clips to it, exponential searches it",
       .range = Range::above(0),
       .group = kGroup},
      {.name = "parts",
       .type = Type::whole,
       .value = "K",
       .help = "sample_aggregate: number of parts; default by a public rule",
       .range = Range::from(1),
       .group = kGroup},
      {.name = "aggregate",
       .type = Type::choice,
       .value = "HOW",
       .help = "sample_aggregate: noisy mean of the parts (default) or private medians",
       .choices = {"mean", "median"},
       .group = kGroup},
      {.name = "bins",
       .type = Type::whole,
       .value = "N",
       .help = "input: bins of a numeric column; default by a public rule",
       .range = Range::from(1),
       .group = kGroup},
      {.name = "candidates",
       .type = Type::file,
       .value = "FILE",
       .help = "exponential: public candidates, one line of parameters each; default a grid",
       .group = kGroup}};
}

RouteOptions route_options_of(const Arguments& arguments) {
  RouteOptions options;
  if (arguments.given("iterations")) options.iterations = arguments.whole("iterations");
  if (arguments.given("regularisation"))
    options.regularisation = arguments.number("regularisation");
  if (arguments.given("batch")) options.batch = arguments.number("batch");
  if (arguments.given("iterate")) {
    if (arguments.text("iterate") == "ema")
      throw InvalidArgument("--iterate ema is for networks", "use average or last");
    options.average = arguments.text("iterate") == "average";
  }
  if (arguments.given("radius")) options.radius = arguments.number("radius");
  if (arguments.given("parts")) options.parts = arguments.whole("parts");
  if (arguments.given("aggregate"))
    options.aggregate = parse_aggregate(arguments.text("aggregate"));
  if (arguments.given("bins")) options.bins = arguments.whole("bins");
  if (arguments.given("candidates"))
    options.candidates = read_candidates(arguments.text("candidates"));
  return options;
}

}  // namespace sotto::cli
