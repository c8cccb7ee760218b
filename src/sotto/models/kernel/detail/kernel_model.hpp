// Detail: what descents on feature rows release: the features, and one vector of parameters an
// output. What several of them say adds up.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

inline constexpr double kMostParameter = 1e6;

struct KernelModel {
  struct Part {
    FeatureDesign design = {};
    std::vector<std::vector<double>> parameters = {};  // one output: two classes or a number
    double noise = 0;  // the standard deviation of what noise has added to each parameter
  };
  std::vector<Part> parts = {};
};

// Of a file that holds the model: 2 with slopes, which versions that know 1 alone would misread.
int schema_of(const KernelModel& model);
bool is_known_schema(const nlohmann::ordered_json& schema);
nlohmann::ordered_json to_json(const KernelModel& model);
KernelModel kernel_model_from_json(const nlohmann::ordered_json& parts);  // throws DataError
// Throws DataError when it does not fit the encoder.
void check_kernel_model(const KernelModel& model, const BinnedColumns& columns,
                        std::size_t outputs);

// What a model says of records: margins.
class KernelMargins {
 public:
  explicit KernelMargins(KernelModel model);
  std::size_t outputs() const { return parts_[0].parameters.size(); }
  // margins: one for each output, to which the model's own are added.
  void add(std::span<const BinnedColumns::Cell> cells, FeatureRow& room,
           std::span<double> margins) const;
  KernelModel model() const;

  struct Part {
    FeatureMap map;
    std::vector<std::vector<double>> parameters;
    double noise;
    std::vector<OneHotBlock::Products> main, leaves;
  };
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

// As a model of the shelf. Throws DataError when it does not fit the encoder.
std::unique_ptr<Model> kernel_predictor(KernelModel model, const Facts& facts);
std::unique_ptr<Model> load_kernel(const Files& files, Facts& facts);

}  // namespace sotto
