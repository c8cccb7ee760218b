#include "sotto/models/naive_bayes/naive_bayes_family.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/naive_bayes/detail/class_statistics.hpp"
#include "sotto/models/naive_bayes/detail/naive_bayes_model.hpp"

namespace sotto {
namespace {

class NaiveBayesTraining final : public TrainingPlan {
 public:
  NaiveBayesTraining(const Facts& facts, const TrainingRequest& request)
      : facts_(facts), statistics_(*facts.encoder, facts.classes().size()) {
    if (request.method == "none") {
      method_ = "none";
      return;
    }
    const Budget& budget = required_budget(request);
    if (request.method == "laplace") {
      choose(laplace(budget), "asked for");
    } else if (request.method == "gaussian") {
      if (budget.is_pure())
        throw InvalidArgument("Gaussian noise has no pure epsilon",
                              "give `delta` or `rho` too, or `method` laplace");
      choose(gaussian(budget), "asked for");
    } else if (budget.is_pure()) {
      choose(laplace(budget), "the budget is a pure epsilon");
    } else {
      LatticeNoise one = laplace(budget), other = gaussian(budget);
      const bool first = deviation(one) < deviation(other);
      choose(first ? std::move(one) : std::move(other), "the smaller noise of the two");
    }
  }

  std::optional<Event> event() const override {
    return noise_ ? std::optional(noise_->event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = method_, .reason = reason_};
    e.words = noise_ ? fmt::format(
                           "noisy counts, means and squares of {} classes ({} sums, {} noise of "
                           "standard deviation {:.4g} on each)",
                           statistics_.classes(), statistics_.size(),
                           noise_->gaussian() ? "Gaussian" : "Laplace", deviation(*noise_))
                     : "counts, means and squares of the classes without noise";
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl&) override {
    std::vector<int128> sums = source.sum(
        statistics_.size(),
        [&](const Table& block, std::span<int128> total) { statistics_.add(block, total); });
    if (!noise_) return Unprotected<std::unique_ptr<Model>>{model_of(sums, 0)};
    sums = noise_->add(sums, rng);
    return Release<std::unique_ptr<Model>>(model_of(sums, deviation(*noise_)), *noise_);
  }

 private:
  LatticeNoise noise_for(const Budget& budget) const {
    return {facts_.relation, budget, ClassStatistics::kGranularity,
            statistics_.distance(facts_.relation, facts_.contributions), statistics_.size()};
  }
  LatticeNoise laplace(const Budget& budget) const {
    return noise_for(Budget::pure(budget.pure_epsilon()));
  }
  LatticeNoise gaussian(const Budget& budget) const {
    return noise_for(
        confirmed(budget, facts_.relation, [&](const Budget& b) { return noise_for(b).event(); }));
  }
  static double deviation(const LatticeNoise& noise) {
    return noise.scale() * (noise.gaussian() ? 1 : std::sqrt(2.0));
  }
  void choose(LatticeNoise noise, std::string reason) {
    method_ = noise.gaussian() ? "gaussian" : "laplace";
    reason_ = std::move(reason);
    noise_ = std::move(noise);
  }

  std::unique_ptr<Model> model_of(const std::vector<int128>& sums, double noise) const {
    std::vector<double> natural;
    natural.reserve(sums.size());
    for (const int128 steps : sums)
      natural.push_back(static_cast<double>(steps) * ClassStatistics::kGranularity);
    return naive_bayes_classifier(
        NaiveBayesModel::from_sums(natural, statistics_, *facts_.encoder, noise), facts_);
  }

  Facts facts_;
  ClassStatistics statistics_;
  std::string method_, reason_;
  std::optional<LatticeNoise> noise_;
};

// Hats are for models that are linear in the encoded row.
Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  check_target(facts, Task::classify, "naive_bayes", "linear");
  return std::make_unique<NaiveBayesTraining>(facts, request);
}

Merit merit(const Situation& s) {
  return {s.pure && s.classes > 2 ? 0.7 : 0.2, "a pure epsilon, many classes: counts alone"};
}

}  // namespace

Family naive_bayes_family() {
  return {.name = "naive_bayes",
          .title = "Naive Bayes",
          .kinds = {{"naive_bayes",
                     {Task::classify},
                     "one law for each column and class, of a class; the quickest"}},
          .methods = {{"auto", "the one with the smaller noise"},
                      {"laplace", "Laplace noise: pure epsilon"},
                      {"gaussian", "Gaussian noise: zCDP"},
                      {"none", "no noise: NOT PRIVATE"}},
          .prepare = prepare,
          .plan = plan,
          .load = load_naive_bayes,
          .merit = merit};
}

}  // namespace sotto
