#include "sotto/learning/class_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/mechanisms/counts.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

bool is_weight(double w) { return std::isfinite(w) && w > 0; }

class WeightedModel final : public Model {
 public:
  WeightedModel(std::unique_ptr<Model> model, std::vector<double> weights)
      : model_(std::move(model)), weights_(std::move(weights)) {}

  Task task() const override { return model_->task(); }
  Files files() const override {
    Files files = model_->files();
    files[kClassWeightsFile] = Json{{"class_weights", weights_}}.dump(1) + "\n";
    return files;
  }
  std::vector<OutputColumn> columns() const override { return model_->columns(); }
  // Prediction, its probability, then those of all classes (SupervisedModel).
  std::vector<double> apply(const Block& block) const override {
    std::vector<double> values = model_->apply(block);
    const std::size_t width = weights_.size() + 2;
    for (std::size_t at = 0; at < values.size(); at += width) {
      const std::span<double> p = std::span(values).subspan(at + 2, weights_.size());
      const std::size_t best = reweigh(p);
      values[at] = static_cast<double>(best);
      values[at + 1] = p[best];
    }
    return values;
  }
  std::vector<ScoredRow> score(const Block& block,
                               std::optional<std::size_t> group) const override {
    std::vector<ScoredRow> rows = model_->score(block, group);
    for (ScoredRow& row : rows)
      if (row.probabilities.size() == weights_.size())
        row.prediction = static_cast<double>(reweigh(row.probabilities));
    return rows;
  }

 private:
  // The likeliest class afterwards.
  std::size_t reweigh(std::span<double> p) const {
    double total = 0;
    for (std::size_t c = 0; c < p.size(); ++c) total += p[c] *= weights_[c];
    if (total > 0 && std::isfinite(total))
      for (double& value : p) value /= total;
    return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  }

  std::unique_ptr<Model> model_;
  std::vector<double> weights_;
};

// What both kinds of weighted training leave to the plan inside.
class OuterPlan : public TrainingPlan {
 public:
  explicit OuterPlan(std::unique_ptr<TrainingPlan> inner) : inner_(std::move(inner)) {}
  std::optional<Event> event() const override { return inner_->event(); }
  Relation relation() const override { return inner_->relation(); }
  void prepare(RunControl& control, Rng& rng) override { inner_->prepare(control, rng); }
  std::string result() const override { return inner_->result(); }

 protected:
  std::unique_ptr<TrainingPlan> inner_;
};

class GivenWeights final : public OuterPlan {
 public:
  GivenWeights(std::unique_ptr<TrainingPlan> inner, std::vector<double> weights)
      : OuterPlan(std::move(inner)), weights_(std::move(weights)) {}
  Explanation explain() const override {
    Explanation e = inner_->explain();
    e.words += fmt::format("; class weights {:.4g}", fmt::join(weights_, ", "));
    e.figures["class_weights"] = weights_;
    return e;
  }
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    return inner_->run(source, rng, control).then([&](std::unique_ptr<Model>&& model) {
      return weighted(std::move(model), weights_);
    });
  }

 private:
  std::vector<double> weights_;
};

class EstimatedShares final : public OuterPlan {
 public:
  EstimatedShares(std::unique_ptr<TrainingPlan> inner, const Facts& facts, const Budget& budget)
      : OuterPlan(std::move(inner)),
        classes_(facts.classes().size()),
        smallest_(1.0 / static_cast<double>(facts.declared_rows())),
        noise_(counting_noise(facts.relation, budget, distance(facts), classes_)) {}

  std::optional<Event> event() const override {
    return compose({noise_.event(), *inner_->event()});
  }
  std::string describe() const { return explain().words; }
  Explanation explain() const override {
    Explanation e = inner_->explain();
    e.words += fmt::format("; class weights balanced by a noisy count of each class: {}",
                           noise_.describe());
    return e;
  }
  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    const std::vector<int128> sums =
        source.sum(classes_, [](const Table& block, std::span<int128> counts) {
          for (std::size_t i = 0; i < block.rows(); ++i)
            if (!block.is_null(i)) counts[static_cast<std::size_t>(block.targets()[i])] += 1;
        });
    std::vector<std::uint64_t> counts(sums.begin(), sums.end());
    std::vector<double> shares = noisy_counts(noise_, counts, rng);
    double total = 0;
    for (double& s : shares) total += s = std::max(s, 0.0);
    for (double& s : shares) s = total > 0 ? s / total : 1;
    const std::vector<double> weights = balanced_weights(shares, smallest_);
    auto model = inner_->run(source, rng, control);
    return Release<std::unique_ptr<Model>>(weighted(std::move(model).value(), weights),
                                           EventOf{*event(), relation()});
  }

 private:
  // A release of both parts.
  struct EventOf {
    Event both;
    Relation where;
    Event event() const { return both; }
    Relation relation() const { return where; }
    std::string describe() const { return {}; }
  };
  static Distance distance(const Facts& facts) {
    const Distance one = histogram_distance(facts.relation);
    const auto records = static_cast<double>(facts.contributions);
    return {one.l1 * records, one.l2 * records};
  }

  std::size_t classes_;
  double smallest_;
  LatticeNoise noise_;
};

}  // namespace

std::unique_ptr<Model> weighted(std::unique_ptr<Model> model, std::vector<double> weights) {
  const std::size_t classes = model->columns().front().labels.size();
  if (model->task() != Task::classify || weights.size() != classes)
    throw InvalidArgument(
        fmt::format("there are {} class weights and {} classes", weights.size(), classes));
  if (!std::all_of(weights.begin(), weights.end(), is_weight))
    throw InvalidArgument("a class weight is not positive");
  return std::make_unique<WeightedModel>(std::move(model), std::move(weights));
}

std::vector<double> read_class_weights(const std::string& text) {
  const auto json = parse_json(text, kClassWeightsFile);
  const auto damaged = [] {
    throw DataError(fmt::format("{} does not hold positive weights", kClassWeightsFile));
  };
  if (!json.is_object() || json.size() != 1 || !json.contains("class_weights") ||
      !json["class_weights"].is_array())
    damaged();
  std::vector<double> weights;
  for (const auto& w : json["class_weights"]) {
    if (!w.is_number() || !is_weight(w.get<double>())) damaged();
    weights.push_back(w.get<double>());
  }
  return weights;
}

std::vector<double> balanced_weights(const std::vector<double>& shares, double smallest) {
  double total = 0;
  for (const double s : shares) {
    if (!(s >= 0) || !std::isfinite(s)) throw InvalidArgument("a share of a class is negative");
    total += s;
  }
  if (!(total > 0)) throw InvalidArgument("all shares of classes are 0");
  std::vector<double> weights;
  for (const double s : shares)
    weights.push_back(1 / (static_cast<double>(shares.size()) * std::max(s / total, smallest)));
  return weights;
}

std::unique_ptr<TrainingPlan> balanced_training(std::unique_ptr<TrainingPlan> inner,
                                                const Facts& facts, const Budget& share_budget) {
  if (!facts.encoder)
    throw Unsupported("shares of classes are estimated from tables only",
                      "declare them with `class_shares`");
  if (!inner->event())
    throw InvalidArgument("shares of classes cannot be estimated without a budget",
                          "declare them with `class_shares`");
  return std::make_unique<EstimatedShares>(std::move(inner), facts, share_budget);
}

std::unique_ptr<TrainingPlan> weighted_training(std::unique_ptr<TrainingPlan> inner,
                                                std::vector<double> weights) {
  return std::make_unique<GivenWeights>(std::move(inner), std::move(weights));
}

}  // namespace sotto
