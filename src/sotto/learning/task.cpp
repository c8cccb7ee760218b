#include "sotto/learning/task.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr Task kTasks[] = {Task::classify, Task::regress, Task::cluster, Task::transform,
                           Task::generate};

}  // namespace

std::string_view name(Task task) {
  switch (task) {
    case Task::classify: return "classify";
    case Task::regress: return "regress";
    case Task::cluster: return "cluster";
    case Task::transform: return "transform";
    case Task::generate: return "generate";
  }
  invariant_broken("a task without a name");
}

Task parse_task(std::string_view text) {
  for (const Task task : kTasks)
    if (name(task) == text) return task;
  throw InvalidArgument(fmt::format("unknown task '{}'", text),
                        "use classify, regress, cluster, transform or generate");
}

}  // namespace sotto
