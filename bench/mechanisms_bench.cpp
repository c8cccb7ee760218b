// What privacy costs in time: releases a second, and exact sums against plain ones.
#include <cmath>
#include <random>
#include <vector>

#include "interleaved.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/moments.hpp"
#include "sotto/mechanisms/norm_mechanism.hpp"
#include "sotto/mechanisms/quantile.hpp"
#include "sotto/mechanisms/selection.hpp"

using namespace sotto;

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  Rng rng;
  volatile double sink = 0;

  std::vector<double> column(1'000'000);
  for (std::size_t i = 0; i < column.size(); ++i)
    column[i] = std::fmod(static_cast<double>(i) * 0.618, 100);
  const auto records = static_cast<double>(column.size());
  auto moment = [&](Moment m, Relation relation, const Budget& budget) {
    return [&, plan = MomentPlan(m, {relation, Bounds(0, 100), budget})] {
      sink = plan.run(column, rng).value.value;
    };
  };
  report.table("streaming a column", "M records", 1e6,
               {{"mean, exact sum on the grid",
                 moment(Moment::mean, Relation::replace_one, Budget::pure(1)), records},
                {"mean with noisy count",
                 moment(Moment::mean, Relation::add_remove, Budget::pure(1)), records},
                {"variance with noisy count",
                 moment(Moment::variance, Relation::add_remove, Budget::zcdp(1)), records},
                {"plain sum of clamped doubles, no privacy",
                 [&] {
                   double sum = 0;
                   for (double x : column) sum += std::clamp(x, 0.0, 100.0);
                   sink = sum;
                 },
                 records}},
               5);

  const AdditiveMechanism laplace(Relation::add_remove, Sensitivity(1, Norm::l1), Budget::pure(1));
  const AdditiveMechanism gaussian(Relation::add_remove, Sensitivity(1, Norm::l2),
                                   Budget::approximate(1, 1e-6));
  const AdditiveMechanism wide(Relation::add_remove, Sensitivity(1, Norm::l2), Budget::zcdp(1),
                               100'000);
  const NormMechanism cube(Relation::add_remove, Sensitivity(1, Norm::linf), Epsilon(1), 1000);
  const std::vector<double> zeros(100'000), thousand(1000);
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  report.table("noised numbers", "M numbers", 1e6,
               {{"Gaussian vector of 100 000", [&] { sink = wide.run(zeros, rng).value[0]; }, 1e5},
                {"Laplace, one at a time",
                 [&] {
                   for (int i = 0; i < 10000; ++i) sink = laplace.run(0.0, rng).value;
                 },
                 1e4},
                {"Gaussian, one at a time",
                 [&] {
                   for (int i = 0; i < 10000; ++i) sink = gaussian.run(0.0, rng).value;
                 },
                 1e4},
                {"l-infinity norm mechanism, vectors of 1000",
                 [&] { sink = cube.run(thousand, rng).value[0]; }, 1e3},
                {"std::normal_distribution, neither safe nor exact",
                 [&] {
                   for (int i = 0; i < 100000; ++i) sink = normal(engine);
                 },
                 1e5}},
               5);

  std::vector<double> scores(1000);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i % 97);
  auto select = [&](Selector selector) {
    return [&, plan = SelectionPlan({Relation::add_remove, 1, Budget::pure(1), selector})] {
      for (int i = 0; i < 50; ++i) sink = static_cast<double>(plan.run(scores, rng).value);
    };
  };
  std::vector<double> weights(scores.size());
  report.table("selection among 1000 candidates", "thousand selections", 1e3,
               {{"exponential mechanism, exact", select(Selector::exponential), 50},
                {"permute and flip, exact", select(Selector::permute_and_flip), 50},
                {"noisy max, exact Laplace", select(Selector::noisy_max_laplace), 50},
                {"softmax and std::discrete_distribution, not exact",
                 [&] {
                   for (int i = 0; i < 50; ++i) {
                     for (std::size_t j = 0; j < scores.size(); ++j)
                       weights[j] = std::exp(scores[j] / 2 - 48);
                     sink = static_cast<double>(
                         std::discrete_distribution<int>(weights.begin(), weights.end())(engine));
                   }
                 },
                 50}},
               5);

  const QuantilePlan median({Relation::add_remove, Bounds(0, 100), 0.5, Budget::pure(1)});
  report.table(
      "others", "calls", 1,
      {{"median of a million records", [&] { sink = median.run(column, rng).value.value; }, 1},
       {"analytic Gaussian calibration", [&] { sink = gaussian_sigma(Epsilon(1), Delta(1e-6)); },
        1}},
      3);
  return report.finish();
}
