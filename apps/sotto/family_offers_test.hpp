// The columns that tests of commands share, and everything that the families of the list offer to
// train on them. Nothing here names a family: one that is registered is tested.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "command_case_test.hpp"
#include "families.hpp"

namespace sotto::cli {

inline constexpr const char* kColumns = R"(
[columns.age]
type = "numeric"
bounds = [17, 90]
missing = "midpoint"
invalid = "missing"
[columns.city]
type = "categorical"
values = ["Turin", "Milan"]
[columns.smoker]
type = "boolean"
missing = "midpoint"
[columns.ill]
type = "categorical"
values = ["no", "yes"]
[columns.grade]
type = "categorical"
values = ["A", "B", "C"]
[columns.cost]
type = "numeric"
bounds = [0, 1000]
missing = "midpoint"
)";
// What a schema has beside them when a unit of privacy is a user.
inline constexpr const char* kUserColumn = "[columns.who]\ntype = \"text\"\nrole = \"user\"\n";

// One thing that a family offers to do.
struct Offer {
  const Family* family;
  std::string kind, target, method;
  Words budget;

  std::string text() const {
    return kind + " of " + target + " by " + method + testing::PrintToString(budget);
  }
  // Without --data.
  Words train(const std::string& schema, const std::string& out) const {
    Words words = {"train", "--schema", schema, "--model", kind, "--method", method, "--out", out};
    if (!target.empty()) words = words + Words{"--target", target};
    return words + budget;
  }
};

inline std::vector<std::string> targets_of(Task task) {
  switch (task) {
    case Task::classify: return {"ill", "grade"};
    case Task::regress: return {"cost"};
    default: return {""};
  }
}

// Where families live that need another executable.
inline bool in_guest_executable() {
  return std::any_of(families().begin(), families().end(), [](const Family& family) {
    return family.plan != nullptr && family.host != "sotto";
  });
}
// Those whose functions are in this executable. In a guest's its own alone: all others have their
// turn in the plain one.
inline std::vector<const Family*> hosted() {
  const bool guest = in_guest_executable();
  std::vector<const Family*> result;
  for (const Family& family : families())
    if (family.plan != nullptr && (family.host != "sotto") == guest) result.push_back(&family);
  return result;
}

// By every method but `none`, with and without a δ; whether it can be planned is another question.
inline std::vector<Offer> offers_of(const Family& family, const Kind& kind) {
  std::vector<Offer> all;
  for (const Task task : kind.tasks) {
    for (const std::string& target : targets_of(task)) {
      for (const Method& method : family.methods) {
        if (method.name == "none") continue;
        for (const Words& budget :
             {Words{"--epsilon", "1", "--delta", "1e-6"}, Words{"--epsilon", "1"}})
          all.push_back({&family, kind.name, target, method.name, budget});
      }
    }
  }
  return all;
}

}  // namespace sotto::cli
