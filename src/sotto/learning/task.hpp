// What a model is for. The task decides which figures measure it and which columns it writes; the
// family that made it does not.
#pragma once

#include <string_view>

namespace sotto {

enum class Task {
  classify,   // a class of each record; supervised
  regress,    // a number for each record; supervised
  cluster,    // a group of each record, found without a target
  transform,  // other coordinates of each record
  generate,   // new records
};

std::string_view name(Task task);
Task parse_task(std::string_view text);  // throws InvalidArgument

inline bool is_supervised(Task task) { return task == Task::classify || task == Task::regress; }

}  // namespace sotto
