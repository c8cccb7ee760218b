// The smallest family that does anything: predicts the class with the largest noisy count.
#pragma once

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/learning/family.hpp"
#include "sotto/mechanisms/counts.hpp"

namespace sotto::test {

class MajorityModel final : public SupervisedModel {
 public:
  MajorityModel(std::vector<double> counts, const Facts& facts)
      : SupervisedModel(facts), counts_(std::move(counts)) {
    if (counts_.size() != labels().size() || counts_.empty())
      throw DataError("the model does not fit its encoder");
  }
  Files files() const override {
    return {{"model.json", nlohmann::ordered_json(counts_).dump() + "\n"}};
  }
  std::vector<Prediction> predict(const Block& block) const override {
    const auto best = std::max_element(counts_.begin(), counts_.end()) - counts_.begin();
    Prediction p{std::vector<double>(counts_.size()), static_cast<double>(best)};
    p.probabilities[static_cast<std::size_t>(best)] = 1;
    return std::vector<Prediction>(block.rows(), p);
  }

 private:
  std::vector<double> counts_;
};

class MajorityPlan final : public TrainingPlan {
 public:
  MajorityPlan(const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        histogram_({.relation = facts.relation,
                    .categories = facts.classes(),
                    .budget = required_budget(request)}) {
    check_target(facts, Task::classify, request.kind, "another");
  }
  std::optional<Event> event() const override { return histogram_.event(); }
  Relation relation() const override { return facts_.relation; }
  Explanation explain() const override {
    return {.method = "laplace", .words = histogram_.describe()};
  }
  using TrainingPlan::run;
  TrainedModel run(Source& source, Rng& rng, RunControl&) override {
    const std::size_t classes = facts_.classes().size();
    const std::vector<int128> sums =
        source.sum(classes, [](const Table& block, std::span<int128> counts) {
          for (const double target : block.targets()) ++counts[static_cast<std::size_t>(target)];
        });
    std::vector<std::uint64_t> counts(sums.begin(), sums.end());
    return histogram_.run(counts, rng).then([&](Histogram&& noisy) -> std::unique_ptr<Model> {
      return std::make_unique<MajorityModel>(std::move(noisy.counts), facts_);
    });
  }

 private:
  Facts facts_;
  HistogramPlan histogram_;
};

inline Family majority_family() {
  return {.name = "majority",
          .title = "Majorities",
          .kinds = {{"majority", {Task::classify}, "the most frequent class"}},
          .methods = {{"laplace", "noisy counts", {"weight"}}, {"other", "not there"}},
          .options = {{.name = "weight", .type = OptionType::number, .value = "W", .help = "none"}},
          .plan = [](const Facts& facts,
                     const TrainingRequest& request) -> std::unique_ptr<TrainingPlan> {
            return std::make_unique<MajorityPlan>(facts, request);
          },
          .load = [](const Files& files, Facts& facts) -> std::unique_ptr<Model> {
            const auto json = nlohmann::ordered_json::parse(files.at("model.json"), nullptr, false);
            if (!json.is_array()) throw DataError("'model.json' is damaged");
            return std::make_unique<MajorityModel>(json.get<std::vector<double>>(), facts);
          }};
}

}  // namespace sotto::test
