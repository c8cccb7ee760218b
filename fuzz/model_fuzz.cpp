// Any text as an artifact's model and encoder, {"model": …, "encoder": …}: a pair that fits and predicts, or an error.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/models/linear/model_fit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 16) return 0;
  try {
    const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "it");
    if (!json.is_object() || !json.contains("model") || !json.contains("encoder")) return 0;
    const LinearModel model = linear_model_from_json(json["model"]);
    require(to_json(linear_model_from_json(to_json(model))) == to_json(model),
            "the model survives JSON");
    const Encoder encoder = encoder_from_json(json["encoder"]);
    check_fit(model, encoder);
    for (const float value : {0.0f, 0.5f, -1.0f}) {
      const std::vector<float> record(encoder.width(), value);
      if (encoder.is_classification()) {
        const std::size_t c = model.classify(record);
        require(c < encoder.target().labels().size(), "a class has a label");
        require(model.probabilities(record).size() == encoder.target().labels().size(),
                "each class has a probability");
      } else {
        encoder.target().unscaled(model.regress(record));
      }
    }
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
