#include "sotto/models/linear/detail/model_fit.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void check_fit(const LinearModel& model, const Encoder& encoder) {
  const auto fail = [](const std::string& why) {
    throw DataError("the model does not fit its encoder: " + why,
                    "restore the artifact from where it was copied");
  };
  if (model.features != encoder.width())
    fail(fmt::format("it has {} features, an encoded record has {}", model.features,
                     encoder.width()));
  if (!encoder.has_target()) fail("the schema has no target");
  if (encoder.is_classification() != (model.loss != Loss::squared))
    fail(fmt::format("its loss is {}", name(model.loss)));
  const std::size_t classes =
      encoder.is_classification() ? encoder.target().labels().size() : std::size_t{2};
  const std::size_t outputs = classes == 2 ? 1 : classes;
  if (classes < 2 || model.outputs != outputs)
    fail(fmt::format("it has {} outputs, the target needs {}", model.outputs, outputs));
}

}  // namespace sotto
