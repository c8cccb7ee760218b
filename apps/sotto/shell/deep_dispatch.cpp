#include "shell/deep_dispatch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "families.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/artifact.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// Beside sotto itself, or where packages put helpers.
std::vector<fs::path> places() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path directory = self.parent_path();
  return {directory / "sotto-deep", directory.parent_path() / "libexec" / "sotto-deep",
          directory.parent_path() / "libexec" / "sotto" / "sotto-deep"};
}

}  // namespace

bool is_deep_call(const Command& command, const Arguments& arguments) {
  // Declared here, and in another executable with its functions.
  const auto elsewhere = [](const Family* family) {
    return family != nullptr && family->load == nullptr;
  };
  if (command.networks) return true;
  if (command.selector == "model")
    return !is_automatic(arguments) && elsewhere(&family_named(arguments));
  if (command.artifact.empty()) return false;
  return elsewhere(find_family(families(), family_of_artifact(arguments.text(command.artifact))));
}

std::map<std::string, Run>& deep_runs() {
  static std::map<std::string, Run> runs;
  return runs;
}

Run deep_run(const std::string& command, const std::vector<std::string>& words) {
  if (const auto it = deep_runs().find(command); it != deep_runs().end()) return it->second;
  std::vector<char*> arguments;
  std::string name = "sotto-deep";
  arguments.push_back(name.data());
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Threads that wait by spinning take the processor from those with work as soon as anything else
  // runs beside them; threads that sleep at once are slow to wake. A short spin is the fastest
  // alone and bears company. Read by OpenMP before main, hence here.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "5000", 0);
  for (const fs::path& helper : places()) {
    if (access(helper.c_str(), X_OK) != 0) continue;
    remove_unfinished_files();  // of --output, which the helper writes itself
    execv(helper.c_str(), arguments.data());
  }
  throw NotBuilt(
      fmt::format("'sotto {}' needs the helper sotto-deep for this, which is not installed",
                  command),
      "install the package with deep learning, or build with LibTorch present");
}

}  // namespace sotto::cli
