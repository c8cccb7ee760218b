#include "sotto/models/linear/linear_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto {

std::vector<double> LinearModel::scores(std::span<const float> record) const {
  double square = 0;
  for (float v : record) square += static_cast<double>(v) * v;
  const double norm = std::sqrt(square);
  const double shrink = scale * (norm > norm_bound ? norm_bound / norm : 1.0);
  std::vector<double> result(outputs);
  for (std::size_t k = 0; k < outputs; ++k) {
    const double* w = weights.data() + k * dimension();
    double sum = 0;
    for (std::size_t j = 0; j < features; ++j) sum += w[j] * record[j];
    result[k] = sum * shrink + (intercept != 0 ? w[features] * intercept * scale : 0);
  }
  return result;
}

std::vector<double> LinearModel::probabilities(std::span<const float> record) const {
  std::vector<double> p = scores(record);
  if (outputs == 1) {
    const double q = 1 / (1 + std::exp(-p[0]));
    return {1 - q, q};
  }
  const double top = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& v : p) total += v = std::exp(v - top);
  for (double& v : p) v /= total;
  return p;
}

std::size_t LinearModel::classify(std::span<const float> record) const {
  const std::vector<double> s = scores(record);
  if (outputs == 1) return s[0] > 0 ? 1 : 0;
  return static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
}

double LinearModel::regress(std::span<const float> record) const {
  return std::clamp(scores(record)[0], -1.0, 1.0);
}

nlohmann::ordered_json to_json(const LinearModel& m) {
  return {{"schema", 1},          {"kind", "linear"},
          {"loss", name(m.loss)}, {"features", m.features},
          {"outputs", m.outputs}, {"norm_bound", m.norm_bound},
          {"scale", m.scale},     {"intercept", m.intercept},
          {"weights", m.weights}};
}

LinearModel linear_model_from_json(const nlohmann::ordered_json& json) {
  try {
    if (json.at("schema") != 1 || json.at("kind") != "linear")
      throw DataError("the model is not a linear model of schema 1");
    LinearModel m;
    const std::string loss = json.at("loss").get<std::string>();
    for (Loss l : {Loss::logistic, Loss::huber_hinge, Loss::squared}) {
      if (loss == name(l)) m.loss = l;
    }
    if (loss != name(m.loss)) throw DataError("the model has an unknown loss");
    // Neither their product nor one more than either overflows.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    m.features = json_count(json.at("features"), "the model's features", kMost);
    m.outputs = json_count(json.at("outputs"), "the model's outputs", kMost);
    m.norm_bound = json_number(json.at("norm_bound"), "the model's norm_bound");
    m.scale = json_number(json.at("scale"), "the model's scale");
    m.intercept = json_number(json.at("intercept"), "the model's intercept");
    m.weights = json.at("weights").get<std::vector<double>>();
    const bool finite =
        std::all_of(m.weights.begin(), m.weights.end(), [](double w) { return std::isfinite(w); });
    if (m.outputs == 0 || m.weights.size() != m.outputs * m.dimension() || !finite)
      throw DataError("the model's weights do not fit its shape");
    if (!(m.norm_bound > 0) || !(m.scale > 0))
      throw DataError("the model's norm_bound and scale must be above 0");
    return m;
  } catch (const nlohmann::json::exception&) {
    throw DataError("the model file is incomplete or damaged",
                    "train again, or restore the file from where it was copied");
  }
}

}  // namespace sotto
