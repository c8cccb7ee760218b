#include "sotto/models/naive_bayes/detail/naive_bayes_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/learning/model_file.hpp"

namespace sotto {
namespace {

constexpr double kSmallestVariance = 1e-4;  // of a column in [−1, 1]
// How many deviations of the noise of Σ(x² − ½) a variance must be above 0 to be believed.
constexpr double kBelieved = 2;

using OfClass = NaiveBayesModel::OfClass;

// Shares of the values of one column, drawn towards those of all classes together.
void set_shares(std::vector<std::vector<double>>& counts, std::size_t first, double noise,
                std::vector<OfClass>& classes) {
  const std::size_t values = counts.front().size();
  std::vector<double> pooled(values, 1.0);
  for (std::vector<double>& of_class : counts) {
    for (std::size_t v = 0; v < values; ++v) pooled[v] += of_class[v] = std::max(0.0, of_class[v]);
  }
  double all = 0;
  for (const double p : pooled) all += p;
  const double weight = (1 + noise) * static_cast<double>(values);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    double total = weight;
    for (const double count : counts[c]) total += count;
    for (std::size_t v = 0; v < values; ++v) {
      classes[c].probability[first + v] = (counts[c][v] + weight * pooled[v] / all) / total;
    }
  }
}

double log_normal(double x, const NaiveBayesModel::Normal& law) {
  const double d = x - law.mean;
  return -0.5 * (std::log(law.variance) + d * d / law.variance);
}

class Classifier final : public SupervisedModel {
 public:
  Classifier(NaiveBayesModel model, const Facts& facts)
      : SupervisedModel(facts), model_(std::move(model)) {}

  Files files() const override { return {{"model.json", to_json(model_).dump(1) + "\n"}}; }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      std::vector<double> p = model_.probabilities(table, i);
      predictions[i].value = static_cast<double>(std::max_element(p.begin(), p.end()) - p.begin());
      predictions[i].probabilities = std::move(p);
    }
    return predictions;
  }

  NaiveBayesModel model_;
};

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

bool is_share(double p) { return p > 0 && p <= 1; }

// Whatever a stranger wrote: laws that are none would turn up as predictions that are not numbers.
void check(const NaiveBayesModel& model, const Encoder& encoder, std::size_t classes) {
  std::size_t numeric = 0;
  for (const ColumnEncoder& column : encoder.features()) numeric += column.is_numeric() ? 1 : 0;
  if (model.classes.size() != classes) does_not_fit();
  for (const OfClass& of_class : model.classes) {
    if (of_class.probability.size() != encoder.width() || of_class.normal.size() != numeric ||
        !is_share(of_class.share))
      does_not_fit();
    for (std::size_t f = 0; f < encoder.features().size(); ++f) {
      if (encoder.features()[f].is_numeric()) continue;
      const Encoder::Run run = encoder.run(f);
      for (std::size_t i = run.first; i < run.first + run.width; ++i)
        if (!is_share(of_class.probability[i])) does_not_fit();
    }
    for (const NaiveBayesModel::Normal& law : of_class.normal)
      if (!(std::abs(law.mean) <= 1 && law.variance > 0 && std::isfinite(law.variance)))
        does_not_fit();
  }
}

}  // namespace

NaiveBayesModel NaiveBayesModel::from_sums(std::span<const double> sums,
                                           const ClassStatistics& statistics,
                                           const Encoder& encoder, double noise) {
  NaiveBayesModel model;
  const std::size_t k = statistics.classes();
  std::vector<double> counts(k);
  double records = 0;
  for (std::size_t c = 0; c < k; ++c)
    records += counts[c] = std::max(sums[statistics.count(c)], 1 + noise);
  for (std::size_t c = 0; c < k; ++c)
    model.classes.push_back({counts[c] / records, std::vector<double>(encoder.width()), {}});

  std::size_t numeric = 0;
  for (std::size_t f = 0; f < encoder.features().size(); ++f) {
    const ColumnEncoder& column = encoder.features()[f];
    const Encoder::Run run = encoder.run(f);
    if (column.is_numeric()) {
      for (std::size_t c = 0; c < k; ++c) {
        const double mean = std::clamp(sums[statistics.first(c, run.first)] / counts[c], -1.0, 1.0);
        const double square = sums[statistics.second(c, numeric)] / counts[c] + 0.5;
        const double least = std::max(kSmallestVariance, kBelieved * noise / counts[c]);
        model.classes[c].normal.push_back(
            {mean, std::clamp(square - mean * mean, std::min(least, 1.0), 1.0)});
      }
      ++numeric;
    } else if (column.is_categorical()) {
      std::vector<std::vector<double>> values(k, std::vector<double>(run.width));
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t v = 0; v < run.width; ++v)
          values[c][v] = sums[statistics.first(c, run.first + v)];
      set_shares(values, run.first, noise, model.classes);
    } else {
      // Σ(b − ½) and the count say how many are true; those that are false are the rest.
      std::vector<std::vector<double>> values(k, std::vector<double>(2));
      std::vector<OfClass> two(k, OfClass{0, std::vector<double>(2), {}});
      for (std::size_t c = 0; c < k; ++c) {
        const double above_half = sums[statistics.first(c, run.first)];
        values[c] = {counts[c] / 2 - above_half, counts[c] / 2 + above_half};
      }
      set_shares(values, 0, noise, two);
      for (std::size_t c = 0; c < k; ++c)
        model.classes[c].probability[run.first] = two[c].probability[1];
    }
  }
  return model;
}

std::vector<double> NaiveBayesModel::probabilities(const Table& table, std::size_t row) const {
  const Encoder& encoder = table.encoder();
  const bool unit_scaling = encoder.schema().scaling == Scaling::unit;
  std::vector<double> p(classes.size());
  for (std::size_t c = 0; c < p.size(); ++c) {
    const OfClass& of_class = classes[c];
    double logarithm = std::log(of_class.share);
    for (const std::uint32_t coordinate : table.hot(row))
      logarithm += std::log(of_class.probability[coordinate]);
    const std::span<const double> dense = table.dense(row);
    std::size_t d = 0, numeric = 0;
    for (std::size_t f = 0; f < encoder.features().size(); ++f) {
      const ColumnEncoder& column = encoder.features()[f];
      if (column.is_categorical()) continue;
      const double x = dense[d++];
      if (column.is_numeric()) {
        logarithm += log_normal(unit_scaling ? 2 * x - 1 : x, of_class.normal[numeric++]);
      } else {
        // A missing cell is ½: it says nothing.
        const double q = of_class.probability[encoder.run(f).first];
        logarithm += std::log(x * q + (1 - x) * (1 - q));
      }
    }
    p[c] = logarithm;
  }
  const double largest = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& x : p) total += x = std::exp(x - largest);
  for (double& x : p) x /= total;
  return p;
}

nlohmann::ordered_json to_json(const NaiveBayesModel& model) {
  nlohmann::ordered_json json = {{"schema", 1}, {"type", "naive_bayes"}};
  json["classes"] = nlohmann::ordered_json::array();
  for (const OfClass& of_class : model.classes) {
    nlohmann::ordered_json normal = nlohmann::ordered_json::array();
    for (const NaiveBayesModel::Normal& law : of_class.normal)
      normal.push_back({{"mean", law.mean}, {"variance", law.variance}});
    json["classes"].push_back({{"share", of_class.share},
                               {"probability", of_class.probability},
                               {"normal", std::move(normal)}});
  }
  return json;
}

std::unique_ptr<Model> naive_bayes_classifier(NaiveBayesModel model, const Facts& facts) {
  if (!facts.encoder || facts.classes().size() < 2) does_not_fit();
  check(model, *facts.encoder, facts.classes().size());
  return std::make_unique<Classifier>(std::move(model), facts);
}

std::unique_ptr<Model> load_naive_bayes(const Files& files, Facts& facts) {
  NaiveBayesModel model;
  try {
    const auto json = model_json(files);
    if (json.at("schema") != 1 || json.at("type") != "naive_bayes")
      throw DataError("'model.json' is not a naive Bayes model that this version knows");
    for (const auto& of_class : json.at("classes")) {
      OfClass parsed{of_class.at("share").get<double>(),
                     of_class.at("probability").get<std::vector<double>>(),
                     {}};
      for (const auto& law : of_class.at("normal"))
        parsed.normal.push_back({law.at("mean").get<double>(), law.at("variance").get<double>()});
      model.classes.push_back(std::move(parsed));
    }
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a naive Bayes model",
                    "restore it from where the artifact was copied");
  }
  return naive_bayes_classifier(std::move(model), facts);
}

}  // namespace sotto
