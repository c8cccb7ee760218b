#include "sotto/models/tree/detail/tree_portrait.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sotto {
namespace {

std::string in_words(const Question& question, const Encoder& encoder) {
  const ColumnEncoder& feature = encoder.features()[question.column];
  const std::string& name = feature.column().name;
  if (feature.is_numeric())
    return fmt::format("{} >= {:.4g}", name,
                       feature.unscaled(BinnedColumns::start_of(encoder, question.level)));
  if (feature.is_categorical())
    return fmt::format("{} = {}", name, feature.labels()[question.level]);
  constexpr const char* kBooleans[] = {"false", "true", "missing"};
  return fmt::format("{} = {}", name, kBooleans[question.level]);
}

std::string in_words(const std::vector<double>& answer, const ColumnEncoder& target) {
  if (target.is_numeric()) return fmt::format("{:.4g}", target.unscaled(answer[0]));
  const auto best = std::max_element(answer.begin(), answer.end());
  return fmt::format("{} ({:.0f} %)",
                     target.labels()[static_cast<std::size_t>(best - answer.begin())], 100 * *best);
}

}  // namespace

Portrait portrait_of(std::span<const TreeModel> trees, const Encoder& encoder) {
  Portrait portrait;
  for (const TreeModel& tree : trees) {
    PortraitTree drawn;
    for (const Question& question : tree.questions) {
      const std::size_t i = drawn.nodes.size();
      drawn.nodes.push_back({in_words(question, encoder), 2 * i + 1, 2 * i + 2});
    }
    for (const std::vector<double>& answer : tree.answers)
      drawn.nodes.push_back({in_words(answer, encoder.target()), {}, {}});
    portrait.trees.push_back(std::move(drawn));
  }
  return portrait;
}

}  // namespace sotto
