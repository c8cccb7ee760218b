#include "sotto/deep/family/detail/record_groups.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

RecordGroups groups_of_classes(const Facts& facts) {
  const std::size_t classes = facts.classes().size();
  if (classes < 2)
    throw InvalidArgument("groups are the classes of the target, and it is a number",
                          "name a column of categories with `fairness_groups`");
  return {classes, [](const Batch& batch) { return batch.targets; }};
}

}  // namespace

RecordGroups record_groups(const Facts& facts, const std::optional<std::string>& column) {
  if (!column) return groups_of_classes(facts);
  if (!facts.encoder)
    throw InvalidArgument("images have no columns: their groups are the classes",
                          "leave out `fairness_groups`");
  const Encoder& encoder = *facts.encoder;
  if (encoder.has_target() && encoder.target().column().name == *column)
    return groups_of_classes(facts);
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& feature = encoder.features()[f];
    if (feature.column().name != *column) continue;
    if (feature.is_numeric() || feature.is_hashed())
      throw InvalidArgument(
          fmt::format("`fairness_groups` is '{}', a number; groups are categories", *column),
          "declare it as categorical or boolean");
    const Encoder::Run run = encoder.run(f);
    const auto first = static_cast<std::int64_t>(run.first),
               width = static_cast<std::int64_t>(run.width);
    if (width == 1)
      return {2, [first](const Batch& batch) {
                return (batch.inputs.select(1, first) > 0).to(torch::kLong);
              }};
    return {run.width, [first, width](const Batch& batch) {
              return batch.inputs.narrow(1, first, width).argmax(1);
            }};
  }
  throw InvalidArgument(
      fmt::format("`fairness_groups` is '{}', which is no feature of the schema", *column));
}

}  // namespace sotto::deep
