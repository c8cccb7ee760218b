#include "sotto/models/linear/detail/objective_perturbation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/detail/convex_problem.hpp"

namespace sotto::objective_perturbation_test {

struct Record {
  std::vector<float> x;
  float y;
};
using Records = std::vector<Record>;

ExactRows rows_of(const Records& records, std::size_t dimension) {
  ExactRows rows(dimension, 1, 0);
  for (const Record& r : records) rows.add(r.x, r.y);
  return rows;
}

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-52 - 1; }

Record random_record(std::size_t dimension, std::size_t outputs, Rng& rng) {
  Record r{std::vector<float>(dimension), outputs > 1 ? static_cast<float>(rng.next_u64() % outputs)
                                          : rng.next_u64() % 2 ? 1.0f
                                                               : -1.0f};
  for (float& v : r.x)
    v = static_cast<float>(2 * uniform(rng));  // often of norm one after clipping
  return r;
}

// ln of the density of the exact minimiser at θ, up to a constant that is the same for all data
// sets.
double log_density(const Records& records, std::size_t dimension, const ObjectiveBound& bound,
                   double ridge, const std::vector<double>& theta,
                   const std::function<double(double)>& log_noise) {
  const ExactRows rows = rows_of(records, dimension);
  const ConvexProblem problem(rows, bound.loss, bound.outputs, ridge, {}, 1);
  auto h = problem.hessian(theta);
  const std::size_t d = theta.size();
  double log_determinant =
      0;  // of a positive definite matrix: the product of the pivots of its elimination
  for (std::size_t i = 0; i < d; ++i) {
    log_determinant += std::log(h[i * d + i]);
    for (std::size_t j = i + 1; j < d; ++j) {
      const double factor = h[j * d + i] / h[i * d + i];
      for (std::size_t k = i; k < d; ++k) h[j * d + k] -= factor * h[i * d + k];
    }
  }
  return log_noise(problem.evaluate(theta).gradient_norm()) + log_determinant;
}

// The largest |ln f_D(θ) − ln f_D′(θ)| found over neighbours and θ.
double worst_loss(const ObjectiveBound& bound, std::size_t dimension, double ridge, double scale,
                  std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  const auto log_noise = [&](double norm) { return -norm / scale; };
  double worst = 0;
  for (int i = 0; i < 1500; ++i) {
    Records a;
    for (std::uint64_t j = rng.next_u64() % 4; j > 0; --j)
      a.push_back(random_record(dimension, bound.outputs, rng));
    Records b = a;
    a.push_back(random_record(dimension, bound.outputs, rng));
    if (bound.relation == Relation::replace_one)
      b.push_back(random_record(dimension, bound.outputs, rng));
    std::vector<double> theta(dimension * bound.outputs);
    const double size = std::exp(4 * uniform(rng));
    for (double& t : theta) t = size * uniform(rng);
    worst = std::max(worst, std::fabs(log_density(a, dimension, bound, ridge, theta, log_noise) -
                                      log_density(b, dimension, bound, ridge, theta, log_noise)));
  }
  return worst;
}

TEST(ObjectiveBound, PureDensityRatiosStayWithinEpsilonAndThoseOfTooLittleNoiseDoNot) {
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const std::size_t outputs : {1u, 2u, 3u}) {
      for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
        for (const double inner : {0.2, 1.0}) {
          const ObjectiveBound bound{loss, outputs, relation};
          // At the Λ where the determinant just becomes free, and far below it.
          for (const double ridge : {std::min(bound.free_ridge(inner), 8.0), 0.2}) {
            const double claim = bound.epsilon(ridge, inner), scale = bound.sensitivity() / inner;
            const std::size_t dimension = outputs == 1 ? 2 : 1;
            EXPECT_LE(worst_loss(bound, dimension, ridge, scale, 1), claim * (1 + 1e-9))
                << name(loss) << outputs << name(relation) << ' ' << ridge;
            // A replaced softmax record in one dimension moves b by √2 at most, half of what holds
            // in general.
            const double part = outputs > 1 && relation == Relation::replace_one ? 4 : 2;
            if (ridge > 1) {
              EXPECT_GT(worst_loss(bound, dimension, ridge, scale / part, 1), claim)
                  << name(loss) << outputs << name(relation) << ' ' << ridge;
            }
          }
        }
      }
    }
  }
}

TEST(ObjectiveBound, ADeterminantThatIsIgnoredIsCaught) {
  // Far below free_ridge the determinant alone exceeds ε′.
  const ObjectiveBound bound{Loss::logistic, 1, Relation::add_remove};
  EXPECT_GT(worst_loss(bound, 1, 0.05, bound.sensitivity() / 0.2, 2), 0.2);
}

// δ(D ‖ D′) of the Gaussian variant in one dimension, by integration over θ: f_D(θ) = φ(∇J)·J″.
double hockey_stick(const Records& a, const Records& b, const ObjectiveBound& bound, double ridge,
                    double sigma, double epsilon) {
  const ExactRows rows_a = rows_of(a, 1), rows_b = rows_of(b, 1);
  const ConvexProblem pa(rows_a, bound.loss, 1, ridge, {}, 1),
      pb(rows_b, bound.loss, 1, ridge, {}, 1);
  const auto density = [&](const ConvexProblem& p, double theta) {
    const double g = p.evaluate({theta}).gradient[0] / sigma;
    return std::exp(-g * g / 2) / (sigma * std::sqrt(2 * M_PI)) *
           p.hessian(std::vector<double>{theta})[0];
  };
  const double reach = (9 * sigma + static_cast<double>(a.size()) + 2) / ridge;
  const int cells = 3000;
  double sum = 0;
  for (int i = 0; i < cells; ++i) {
    const double theta = reach * (2 * (i + 0.5) / cells - 1);
    sum += std::max(0.0, density(pa, theta) - std::exp(epsilon) * density(pb, theta));
  }
  return sum * 2 * reach / cells;
}

struct Neighbours {
  Records a, b;
};

std::vector<Neighbours> pairs(Relation relation) {
  const Record plus{{1}, 1}, minus{{1}, -1}, half{{0.5f}, 1};
  std::vector<Neighbours> result;
  for (const Records& base : {Records{}, Records{minus, minus, minus}, Records{plus, minus}}) {
    for (const Record& r : {plus, minus, half}) {
      Records with = base;
      with.push_back(r);
      if (relation != Relation::replace_one) {
        result.push_back({with, base});
        result.push_back({base, with});
        continue;
      }
      for (const Record& s : {plus, minus}) {
        Records other = base;
        other.push_back(s);
        result.push_back({with, other});
      }
    }
  }
  return result;
}

TEST(ObjectiveBound, GaussianHockeySticksStayBelowDelta) {
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const ObjectiveBound bound{loss, 1, relation};
      for (const auto& [ridge, sigma, epsilon] :
           std::vector<std::array<double, 3>>{{1.0, 1.0, 1.0},
                                              {4.0, 1.4, 0.5},
                                              {3.0, 1.0, 0.1},
                                              {0.5, 1.0, 2.5},
                                              {2.0, 2.0, 0.6}}) {
        const double claim = bound.delta(ridge, sigma, epsilon);
        double worst = 0, mutant = 0;
        for (const Neighbours& n : pairs(relation)) {
          worst = std::max(worst, hockey_stick(n.a, n.b, bound, ridge, sigma, epsilon));
          mutant = std::max(mutant, hockey_stick(n.a, n.b, bound, ridge, sigma / 2, epsilon));
        }
        EXPECT_LE(worst, claim * (1 + 1e-4) + 1e-9)
            << name(loss) << name(relation) << ' ' << ridge << ' ' << sigma;
        if (claim < 0.15) {
          EXPECT_GT(mutant, claim) << name(loss) << name(relation) << ' ' << ridge << ' ' << sigma;
        }
      }
    }
  }
}

TEST(ObjectiveBound, LogisticWithAStrongRegulariserIsAGaussianMechanismAtEveryEpsilon) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const ObjectiveBound bound{Loss::logistic, 1, relation};
    for (const double sigma : {0.7, 1.5}) {
      for (const double epsilon : {0.0, 0.05, 0.2, 1.0}) {
        const double gaussian =
            std::exp(gaussian_log_delta(contribution_factor(relation) / sigma, epsilon));
        for (const Neighbours& n : pairs(relation))
          EXPECT_LE(hockey_stick(n.a, n.b, bound, 2 * sigma * sigma, sigma, epsilon),
                    gaussian * (1 + 1e-4) + 1e-9);
      }
    }
  }
}

// δ of the Gaussian mechanism, also at a negative ε, and of its composition with randomized
// response.
double gaussian_delta(double mu, double epsilon) {
  if (epsilon >= 0) return std::exp(gaussian_log_delta(mu, epsilon));
  return 1 - std::exp(epsilon) + std::exp(epsilon) * std::exp(gaussian_log_delta(mu, -epsilon));
}
double composed_delta(double mu, double pure, double epsilon) {
  const double truth = 1 / (1 + std::exp(-pure));
  return truth * gaussian_delta(mu, epsilon - pure) +
         (1 - truth) * gaussian_delta(mu, epsilon + pure);
}

TEST(ObjectiveBound, LogisticWithAWeakRegulariserIsBelowAGaussianComposedWithAPureMechanism) {
  const ObjectiveBound bound{Loss::logistic, 1, Relation::add_remove};
  for (const auto& [ridge, sigma] : std::vector<std::array<double, 2>>{{1.0, 1.5}, {0.3, 2.0}}) {
    const double pure = 1 / ridge - 1 / (2 * sigma * sigma);
    for (const double epsilon : {0.0, 0.02, 0.1, 0.3, 0.8}) {
      for (const Neighbours& n : pairs(Relation::add_remove)) {
        const double delta = hockey_stick(n.a, n.b, bound, ridge, sigma, epsilon);
        EXPECT_LE(delta, composed_delta(1 / sigma, pure, epsilon) * (1 + 1e-4) + 1e-9);
      }
    }
  }
}

TEST(ObjectivePerturbation, ARhoIsSpentOnAGaussianAndASmallPureEpsilon) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const ObjectivePerturbationPlan plan({}, relation, 1000, 10, Budget::zcdp(0.1));
    const auto* parts = plan.ideal_event().get_if<ComposeEvent>();
    ASSERT_NE(parts, nullptr);
    const auto* gaussian = parts->events[0].get_if<GaussianEvent>();
    const auto* pure = parts->events[1].get_if<PureEvent>();
    const double mu = gaussian->sensitivity / gaussian->sigma, sigma = gaussian->sigma;
    EXPECT_LE(mu * mu / 2 + pure->epsilon * pure->epsilon / 2, 0.099);
    EXPECT_GT(gaussian->sensitivity, contribution_factor(relation));
    EXPECT_GE(pure->epsilon, 1 / plan.ridge() - 1 / (2 * sigma * sigma));
    if (relation == Relation::replace_one) {
      EXPECT_GE(plan.ridge(), 2 * sigma * sigma);
    }
  }
}

TEST(ObjectivePerturbation, DrawsTheSameNoiseForNeighbours) {
  for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, 1e-6), Budget::zcdp(0.1)}) {
    for (const Relation relation :
         {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
      const ObjectivePerturbationPlan plan({.threads = 1}, relation, 50, 3, budget);
      Rng data = Rng::insecure_seed(3);
      Records a;
      for (int i = 0; i < 50; ++i) a.push_back(random_record(3, 1, data));
      Records b = a;
      if (relation == Relation::add_remove) b.pop_back();
      if (relation == Relation::zero_out) b.back().y = NAN;
      if (relation == Relation::replace_one) b.back().y *= -1;
      const auto runner = [&](const Records& records) {
        return [&](Rng& rng) -> std::optional<Event> {
          const ExactRows rows = rows_of(records, 3);
          return plan.run(rows, rng).event;
        };
      };
      EXPECT_EQ(replay::check_neighbours(runner(a), runner(b)), "");
    }
  }
}

TEST(ObjectivePerturbation, LearnsFromEnoughData) {
  Rng data = Rng::insecure_seed(4);
  Records records;
  for (int i = 0; i < 4000; ++i) {
    Record r = random_record(2, 1, data);
    r.y = r.x[0] - r.x[1] > 0 ? 1.0f : -1.0f;
    records.push_back(r);
  }
  const ExactRows rows = rows_of(records, 2);
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, 1e-6)}) {
      const ObjectivePerturbationPlan plan({.loss = loss}, Relation::add_remove, 4000, 2, budget);
      Rng rng = Rng::insecure_seed(5);
      const auto release = plan.run(rows, rng);
      int right = 0;
      for (const Record& r : records) right += (release.value.classify(r.x) == 1) == (r.y > 0);
      EXPECT_GT(right, 3700) << plan.describe();
    }
  }
}

TEST(ObjectivePerturbation, ThePlansKeepTheBudget) {
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge}) {
    for (const std::size_t outputs : {1u, 4u}) {
      for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
        for (const double regularisation : {0.0, 1e-7, 1e-1}) {
          const ObjectivePerturbationOptions options{
              .loss = loss, .outputs = outputs, .regularisation = regularisation};
          const ObjectiveBound bound{loss, outputs, relation};
          const ObjectivePerturbationPlan pure(options, relation, 1000, 10, Budget::pure(0.5));
          const double inner = bound.sensitivity() / pure.noise_scale();
          EXPECT_LE(bound.epsilon(pure.ridge(), inner), 0.99 * 0.5);
          EXPECT_GE(inner, 0.24) << "at most half of epsilon goes to the determinant";
          const ObjectivePerturbationPlan gaussian(options, relation, 1000, 10,
                                                   Budget::approximate(0.5, 1e-6));
          EXPECT_LE(bound.delta(gaussian.ridge(), gaussian.noise_scale(), 0.99 * 0.5), 0.99e-6);
          const auto* ideal = gaussian.ideal_event().get_if<ApproximateEvent>();
          ASSERT_NE(ideal, nullptr);
          EXPECT_LE(ideal->epsilon, 0.5 * 0.99);
          EXPECT_LE(ideal->delta, 1e-6 * 0.99);
        }
      }
    }
  }
}

TEST(ObjectivePerturbation, ForTheBinaryLogisticLossTheNoiseIsThatOfTheGaussianMechanism) {
  const ObjectivePerturbationPlan plan({}, Relation::add_remove, 1000, 10,
                                       Budget::approximate(1, 1e-5));
  EXPECT_NEAR(plan.noise_scale(), gaussian_sigma(Epsilon(0.99), Delta(0.99e-5)), 1e-4);
}

TEST(ObjectivePerturbation, RefusesWhatItCannotProve) {
  EXPECT_THROW(ObjectivePerturbationPlan({.loss = Loss::squared}, Relation::add_remove, 10, 2,
                                         Budget::pure(1)),
               Unsupported);
  EXPECT_THROW(
      ObjectivePerturbationPlan({.outputs = 3}, Relation::add_remove, 10, 2, Budget::zcdp(1)),
      Unsupported);
  EXPECT_THROW(ObjectivePerturbationPlan({.loss = Loss::huber_hinge}, Relation::add_remove, 10, 2,
                                         Budget::zcdp(1)),
               Unsupported);
  EXPECT_THROW(ObjectivePerturbationPlan({}, Relation::add_remove, 0, 2, Budget::pure(1)),
               InvalidArgument);
}

TEST(ObjectivePerturbation, WorksOnNoRowsAndOnOne) {
  for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, 1e-6), Budget::zcdp(0.1)}) {
    const ObjectivePerturbationPlan plan({}, Relation::add_remove, 1, 3, budget);
    Rng rng = Rng::insecure_seed(6);
    EXPECT_EQ(plan.run(rows_of({}, 3), rng).value.weights.size(), 3u);
    EXPECT_EQ(plan.run(rows_of({{{1, 0, 0}, 1}}, 3), rng).value.weights.size(), 3u);
  }
}

}  // namespace sotto::objective_perturbation_test
