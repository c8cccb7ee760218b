#include "sotto/models/linear/detail/fitted_model.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/linear/detail/model_fit.hpp"

namespace sotto {
namespace {

class FittedModel final : public SupervisedModel {
 public:
  FittedModel(LinearModel model, const Facts& facts)
      : SupervisedModel(facts), model_(std::move(model)) {}

  Files files() const override { return {{"model.json", to_json(model_).dump(1) + "\n"}}; }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<float> record(table.width());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      table.row(i, record);
      Prediction& p = predictions[i];
      if (task() == Task::regress) {
        p.value = model_.regress(record);
      } else {
        p.probabilities = model_.probabilities(record);
        p.value = static_cast<double>(model_.classify(record));
      }
    }
    return predictions;
  }

  LinearModel model_;
};

}  // namespace

std::unique_ptr<Model> fitted_model(LinearModel model, const Facts& facts) {
  if (!facts.encoder)
    throw DataError("the model does not fit its encoder: there is none",
                    "restore the artifact from where it was copied");
  check_fit(model, *facts.encoder);
  return std::make_unique<FittedModel>(std::move(model), facts);
}

std::unique_ptr<Model> load_linear_model(const Files& files, Facts& facts) {
  return fitted_model(linear_model_from_json(model_json(files)), facts);
}

}  // namespace sotto
