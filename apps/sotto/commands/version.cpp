#include "sotto/core/version.hpp"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "build_info.hpp"
#include "commands.hpp"

namespace sotto::cli {
namespace {

// Every module the project has or plans; those that are not built answer with exit code 69.
constexpr const char* kKnown[] = {"core",   "noise",  "mechanisms", "accounting", "data",
                                  "models", "deep",   "pate",       "local",      "federated",
                                  "audit",  "ledger", "report"};

std::vector<std::string> built() {
  std::istringstream stream(kModules);
  std::vector<std::string> modules;
  for (std::string module; stream >> module;) modules.push_back(module);
  return modules;
}

}  // namespace

void print_version(const Arguments& arguments, Context& context) {
  const auto modules = built();
  if (!arguments.flag("json")) {
    context.out.print("sotto {}\nmodules: {}\n", kVersion,
                      fmt::format("{}", fmt::join(modules, ", ")));
    return;
  }
  nlohmann::ordered_json features;
  for (const char* module : kKnown) {
    features[module] = std::find(modules.begin(), modules.end(), module) != modules.end();
  }
  const nlohmann::ordered_json json = {{"schema", 1},
                                       {"name", "sotto"},
                                       {"version", kVersion},
                                       {"modules", modules},
                                       {"features", features},
                                       {"compiler", kCompiler},
                                       {"build_type", kBuildType},
                                       {"generator", context.rng().kind()}};
  context.out.print("{}\n", json.dump());
}

}  // namespace sotto::cli
