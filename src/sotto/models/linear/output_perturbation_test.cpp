#include "sotto/models/linear/detail/output_perturbation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/detail/minimiser.hpp"
#include "support/statistics.hpp"

namespace sotto::output_perturbation_test {

struct Record {
  std::vector<float> x;
  float y;
};

ExactRows rows_of(const std::vector<Record>& records) {
  ExactRows rows(records.empty() ? 2 : records[0].x.size(), 1, 0);
  for (const Record& r : records) rows.add(r.x, r.y);
  return rows;
}

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-52 - 1; }

Record random_record(std::size_t outputs, Rng& rng) {
  const double angle = 3.2 * uniform(rng), length = rng.next_u64() % 2 ? 1 : uniform(rng);
  const float y = outputs > 1          ? static_cast<float>(rng.next_u64() % outputs)
                  : rng.next_u64() % 2 ? 1.0f
                                       : -1.0f;
  return {
      {static_cast<float>(length * std::cos(angle)), static_cast<float>(length * std::sin(angle))},
      y};
}

std::vector<double> minimiser_of(const std::vector<Record>& records, Loss loss, std::size_t outputs,
                                 double ridge) {
  const ExactRows rows = rows_of(records);
  return minimise(ConvexProblem(rows, loss, outputs, ridge, {}, 1), 1e-9).theta;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t j = 0; j < a.size(); ++j) square += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(square);
}

// The largest Λ·‖θ̂ − θ̂′‖ found: random neighbours, and a crowd of equal records whose opposite
// arrives.
double worst_case(Loss loss, std::size_t outputs, Relation relation, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  double worst = 0;
  const auto attempt = [&](std::vector<Record> base, const Record& a, const Record& b,
                           double ridge) {
    auto with_a = base, with_b = base;
    with_a.push_back(a);
    if (relation == Relation::replace_one) with_b.push_back(b);
    worst = std::max(worst, ridge * distance(minimiser_of(with_a, loss, outputs, ridge),
                                             minimiser_of(with_b, loss, outputs, ridge)));
  };
  for (int i = 0; i < 150; ++i) {
    std::vector<Record> base;
    for (std::uint64_t j = rng.next_u64() % 6; j > 0; --j)
      base.push_back(random_record(outputs, rng));
    attempt(base, random_record(outputs, rng), random_record(outputs, rng),
            std::exp(4 * uniform(rng)));
  }
  // Records of +e1 in one class drive the margins far out; there slopes of the other classes are at
  // their largest and curvature is gone.
  for (const double crowd : {50.0, 400.0}) {
    const float first = outputs > 1 ? 0.0f : -1.0f, second = 1.0f;
    const std::vector<Record> base(static_cast<std::size_t>(crowd), {{1, 0}, first});
    attempt(base, {{1, 0}, second}, {{-1, 0}, second}, crowd / 12);
    attempt(base, {{1, 0}, second}, {{-1, 0}, first}, crowd / 12);
    // For a replacement both slopes must be at their largest: opposite records on two axes.
    std::vector<Record> both = base;
    both.insert(both.end(), base.size(), {{0, 1}, first});
    attempt(both, {{0.70710f, 0.70710f}, second}, {{-0.70710f, -0.70710f}, second}, crowd / 12);
    attempt({}, {{1, 0}, second}, {{-1, 0}, second}, crowd);
  }
  if (outputs == 1) {
    // Many axes, one record each: θ is long and hardly curved along any direction, and records
    // against it have slopes near one.
    constexpr std::size_t axes = 256;
    std::vector<Record> base(axes, {std::vector<float>(axes), -1});
    for (std::size_t j = 0; j < axes; ++j) base[j].x[j] = 1;
    Record a{std::vector<float>(axes), 1}, b = a;
    for (std::size_t j = 0; j < axes; ++j) {
      const float along = 0.5f / 16, across = (j % 2 ? 0.866f : -0.866f) / 16;
      a.x[j] = relation == Relation::replace_one ? along + across : 2 * along;
      b.x[j] = along - across;
    }
    attempt(base, a, b, 1);
  }
  return worst;
}

TEST(OutputPerturbation, NoNeighboursFoundBySearchExceedTheSensitivity) {
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const std::size_t outputs : {1u, 3u}) {
      for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
        const double claim = slope_norm(loss, outputs) * contribution_factor(relation);
        const double worst = worst_case(loss, outputs, relation, 5);
        EXPECT_LE(worst, claim * (1 + 1e-6)) << name(loss) << outputs << name(relation);
        EXPECT_GT(worst, claim / 2)
            << "half the sensitivity must be refuted: " << name(loss) << outputs << name(relation);
      }
    }
  }
}

std::vector<Record> sample(std::size_t n, std::uint64_t seed, std::size_t outputs = 1) {
  Rng rng = Rng::insecure_seed(seed);
  std::vector<Record> records;
  for (std::size_t i = 0; i < n; ++i) records.push_back(random_record(outputs, rng));
  return records;
}

TEST(OutputPerturbation, NoisesNeighboursWithinTheDeclaredSensitivity) {
  for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, 1e-6), Budget::zcdp(0.1)}) {
    for (const Relation relation :
         {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
      for (const std::size_t outputs : {1u, 3u}) {
        const OutputPerturbationPlan plan({.outputs = outputs, .threads = 1}, relation, 30, 2,
                                          budget);
        auto a = sample(30, 6, outputs), b = a;
        if (relation == Relation::add_remove) b.pop_back();
        if (relation == Relation::zero_out) b.back() = {{NAN, 0}, 0};
        if (relation == Relation::replace_one)
          b.back() = {{-1, 0}, outputs > 1 ? 0.0f : -b.back().y};
        const auto runner = [&](const std::vector<Record>& records) {
          return [&](Rng& rng) -> std::optional<Event> {
            const ExactRows rows = rows_of(records);
            return plan.run(rows, rng).event;
          };
        };
        EXPECT_EQ(replay::check_neighbours(runner(a), runner(b)), "")
            << budget.describe() << name(relation);
      }
    }
  }
}

TEST(OutputPerturbation, NoiseHasTheSizeThePlanStates) {
  const auto records = sample(40, 7);
  const ExactRows rows = rows_of(records);
  const OutputPerturbationPlan plan({.regularisation = 0.1, .threads = 1}, Relation::add_remove, 40,
                                    2, Budget::approximate(1, 1e-5));
  EXPECT_DOUBLE_EQ(plan.ridge(), 4);
  EXPECT_NEAR(plan.sensitivity(), 1 / 4.0, 1e-8);
  EXPECT_NEAR(plan.noise_scale(), 3.7306 / 4, 1e-3);  // the analytic Gaussian at (1, 1e-5)
  const auto centre = minimiser_of(records, Loss::logistic, 1, 4);
  Rng rng = Rng::insecure_seed(8);
  std::vector<double> z;
  for (int i = 0; i < 2000; ++i) {
    const auto weights = plan.run(rows, rng).value.weights;
    for (std::size_t j = 0; j < 2; ++j) z.push_back((weights[j] - centre[j]) / plan.noise_scale());
  }
  const auto cdf = [](double v) { return std::erfc(-v / std::sqrt(2.0)) / 2; };
  EXPECT_GT(test::ks_p(z, cdf), test::kAlpha);
  for (double& v : z) v *= 1.2;
  EXPECT_LT(test::ks_p(z, cdf), test::kAlpha);
}

TEST(OutputPerturbation, PureNoiseHasAGammaRadius) {
  const auto records = sample(40, 9);
  const ExactRows rows = rows_of(records);
  const OutputPerturbationPlan plan({.regularisation = 0.5, .threads = 1}, Relation::replace_one,
                                    40, 2, Budget::pure(1));
  EXPECT_NEAR(plan.sensitivity(), 0.1, 1e-8);
  EXPECT_NEAR(plan.noise_scale(), 0.1 / 0.99, 1e-6);
  const auto centre = minimiser_of(records, Loss::logistic, 1, 20);
  Rng rng = Rng::insecure_seed(10);
  std::vector<double> radius;
  for (int i = 0; i < 3000; ++i)
    radius.push_back(distance(plan.run(rows, rng).value.weights, centre) / plan.noise_scale());
  const auto cdf = [](double r) { return 1 - std::exp(-r) * (1 + r); };
  EXPECT_GT(test::ks_p(radius, cdf), test::kAlpha);
  for (double& r : radius) r *= 1.2;
  EXPECT_LT(test::ks_p(radius, cdf), test::kAlpha);
}

// Whether a run stops is seen by everyone: it must not depend on the data. Thin rows make
// minimisers long under a weak regulariser.
TEST(OutputPerturbation, NoDataKeepsAMinimiserFromBeingCertified) {
  constexpr std::size_t kDimension = 8;
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const double lambda : {1e-2, 1e-6, 1e-10}) {
      for (const float thin : {1.0f, 0x1p-8f, 0x1p-14f, 0x1p-16f}) {
        std::vector<float> x(kDimension);
        x[0] = thin;
        std::vector<Record> records(100, {x, 1});
        x[1] = 0.5f;
        for (std::size_t i = 0; i < 50; ++i) records[i] = {x, i % 2 == 0 ? 1.0f : -1.0f};
        const OutputPerturbationPlan plan({.loss = loss, .regularisation = lambda},
                                          Relation::add_remove, 100, kDimension, Budget::zcdp(0.5));
        Rng rng = Rng::insecure_seed(5);
        EXPECT_NO_THROW(plan.run(rows_of(records), rng)) << lambda << " " << thin;
      }
    }
  }
  // Beyond, Newton's equations are too ill-conditioned to be sure: refused before any data.
  EXPECT_THROW(OutputPerturbationPlan({.regularisation = 1e-14}, Relation::add_remove, 100,
                                      kDimension, Budget::zcdp(0.5)),
               InvalidArgument);
}

// Nor must it depend on how many steps Newton's method needs, which here are more than 300 from 0.
TEST(OutputPerturbation, AHardProblemEndsCertified) {
  constexpr std::size_t kFeatures = 132, kRows = 433;
  constexpr double kLambda = 1e-9;
  Rng random = Rng::insecure_seed(40);
  std::vector<double> direction(kFeatures);
  for (double& w : direction) w = uniform(random);
  ExactRows rows(kFeatures, std::sqrt(static_cast<double>(kFeatures)), 1);
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<float> x(kFeatures);
    double margin = 0;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      x[j] = random.next_u64() % 2 ? 1.0f : 0.0f;
      margin += direction[j] * x[j];
    }
    rows.add(x, (margin > 0) == (random.next_u64() % 20 != 0) ? 1.0f : -1.0f);
  }
  const ProblemSize size{.loss = Loss::huber_hinge,
                         .dimension = kFeatures + 1,
                         .rows = kRows,
                         .ridge = kLambda * kRows};
  const ConvexProblem problem(rows, Loss::huber_hinge, 1, size.ridge, {}, 1);
  EXPECT_GT(minimise(problem, minimiser_tolerance(size)).gradient_bound, minimiser_tolerance(size));
  EXPECT_LE(certified_minimum(problem, minimiser_tolerance(size)).gradient_bound,
            minimiser_tolerance(size));
  const OutputPerturbationPlan plan({.loss = Loss::huber_hinge, .regularisation = kLambda},
                                    Relation::replace_one, kRows, kFeatures + 1, Budget::zcdp(0.5));
  Rng rng = Rng::insecure_seed(5);
  EXPECT_NO_THROW(plan.run(rows, rng));
}

// Steps of length 1/M need no search; they come last and are enough alone.
TEST(OutputPerturbation, PlainStepsCertifyWhereNoOtherMethodIsAllowed) {
  Rng random = Rng::insecure_seed(3);
  std::vector<Record> records;
  for (int i = 0; i < 50; ++i) records.push_back(random_record(1, random));
  const ExactRows rows = rows_of(records);
  const ConvexProblem problem(rows, Loss::logistic, 1, 0.5, {}, 1);
  const Minimum found = certified_minimum(problem, 1e-9, {.iterations = 0});
  EXPECT_LE(found.gradient_bound, 1e-9);
  EXPECT_LE(distance(found.theta, minimiser_of(records, Loss::logistic, 1, 0.5)), 1e-8);
}

// The number of rows is private under add_remove: no number of them may end in an error.
TEST(OutputPerturbation, OfFarMoreRowsThanDeclaredTheFirstAreUsed) {
  Rng random = Rng::insecure_seed(3);
  std::vector<Record> records;
  for (int i = 0; i < 1000; ++i) records.push_back(random_record(1, random));
  const OutputPerturbationPlan plan({}, Relation::add_remove, 100, 2, Budget::zcdp(0.5));
  const auto run = [&](const std::vector<Record>& data) {
    Rng rng = Rng::insecure_seed(5);
    return plan.run(rows_of(data), rng).value.weights;
  };
  EXPECT_EQ(run(records), run({records.begin(), records.begin() + 400}));
  EXPECT_NE(run(records), run({records.begin(), records.begin() + 399}));
}

TEST(OutputPerturbation, RefusesWhatItCannotProve) {
  EXPECT_THROW(
      OutputPerturbationPlan({.loss = Loss::squared}, Relation::add_remove, 10, 2, Budget::pure(1)),
      Unsupported);
  EXPECT_THROW(OutputPerturbationPlan({}, Relation::add_remove, 0, 2, Budget::pure(1)),
               InvalidArgument);
  EXPECT_THROW(
      OutputPerturbationPlan({.regularisation = -1}, Relation::add_remove, 10, 2, Budget::pure(1)),
      InvalidArgument);
}

TEST(OutputPerturbation, EventIsWithinTheBudget) {
  const OutputPerturbationPlan pure({}, Relation::add_remove, 1000, 20, Budget::pure(1));
  const Event event = pure.event();
  const auto* parts = event.get_if<ComposeEvent>();
  ASSERT_NE(parts, nullptr);
  const auto* laplace = parts->events[1].get_if<DiscreteLaplaceEvent>();
  ASSERT_NE(laplace, nullptr);
  EXPECT_LE(parts->events[0].get_if<PureEvent>()->epsilon + laplace->sensitivity / laplace->scale,
            1);
}

}  // namespace sotto::output_perturbation_test
