// The grid laws and the tilted transform, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/pld/noise_laws.hpp"
#include "sotto/accounting/pld/profile.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::engine_test {

// N(μ,1) against N(0,1) written as a mixture, so that it is not merged and answered in closed form.
LossLaw gaussian_by_grid(double mu) {
  LossLaw law;
  law.symmetric = true;
  law.pieces = {MixturePiece{{1}, {mu}, {1}, {0}}};
  return law;
}

LossLaw sampled_gaussian(double sigma, double q) { return sampled_law(gaussian_law(1 / sigma), q); }

LossLaw bounded_range_law(double epsilon) { return bounded_range_run(epsilon).upper; }

LawRun times(LossLaw law, std::uint64_t count) {
  LawRun run;
  run.upper = std::move(law);
  run.count = count;
  return run;
}

double total_mass(const StepLaw& step, double h, double order) {
  long double sum = 0;  // the many tiny masses of a fine grid add up
  for (std::size_t k = 0; k < step.mass.size(); ++k) {
    sum += static_cast<long double>(step.mass[k]) *
           std::exp(order * static_cast<double>(step.point[k]) * h);
  }
  return static_cast<double>(sum);
}

TEST(PldGrid, KeepsTheMassOfPAndOfQAtEveryGrid) {
  for (double h : {0.1, 1e-2, 1e-3, 1e-4}) {
    for (const LossLaw& law :
         {sampled_gaussian(1, 0.01), sampled_gaussian(0.5, 0.3), gaussian_by_grid(0.7),
          laplace_law(1.3), sampled_law(laplace_law(2), 0.1)}) {
      const CellGrid grid = discretise(law, h, 1e-30);
      for (const CellGrid& g : {grid, grid.mirrored()}) {
        EXPECT_NEAR(total_mass(g.upper_step(), h, 0), 1, 2e-14) << h;
        EXPECT_NEAR(total_mass(g.upper_step(), h, -1), 1, 2e-14) << h;
        EXPECT_NEAR(total_mass(g.lower_step(), h, 0), 1, 2e-14) << h;
        // Rounding losses down is the only thing that changes the mass of Q, upwards.
        EXPECT_GE(total_mass(g.lower_step(), h, -1), 1 - 2e-14) << h;
        EXPECT_LE(total_mass(g.lower_step(), h, -1), std::exp(h) + 2e-14) << h;
      }
    }
  }
}

// δ of one step on the grid.
double step_delta(const StepLaw& step, double h, double epsilon) {
  double sum = step.infinite;
  for (std::size_t k = 0; k < step.mass.size(); ++k) {
    const double loss = static_cast<double>(step.point[k]) * h;
    if (loss > epsilon) sum += step.mass[k] * -std::expm1(epsilon - loss);
  }
  return sum;
}

TEST(PldGrid, UpperAndLowerLawsEncloseTheClosedFormAtEveryEpsilon) {
  for (const LossLaw& law :
       {sampled_gaussian(1, 0.01), sampled_gaussian(0.5, 0.3), laplace_law(1.3),
        sampled_law(laplace_law(2), 0.1), folded(sampled_gaussian(0.8, 0.05)), gaussian_law(1.7)}) {
    for (double h : {0.2, 0.03, 0.004}) {
      const CellGrid grid = discretise(law, h, 1e-30);
      const StepLaw upper = grid.upper_step(), lower = grid.lower_step();
      const StepLaw upper_back = grid.mirrored().upper_step(),
                    lower_back = grid.mirrored().lower_step();
      for (double epsilon = -1; epsilon < 4; epsilon += 0.0371) {
        const double exact = law.hockey_stick(epsilon), back = law.reverse_hockey_stick(epsilon);
        EXPECT_GE(step_delta(upper, h, epsilon), exact * (1 - 1e-12) - 1e-15);
        EXPECT_LE(step_delta(lower, h, epsilon), exact * (1 + 1e-12) + 1e-15);
        EXPECT_GE(step_delta(upper_back, h, epsilon), back * (1 - 1e-12) - 1e-15);
        EXPECT_LE(step_delta(lower_back, h, epsilon), back * (1 + 1e-12) + 1e-15);
      }
    }
  }
}

// Losses beyond the end are taken as without end: too much above, and taken off again below.
TEST(PldGrid, LawsThatEndEarlyEncloseTheClosedForm) {
  for (const LossLaw& law :
       {sampled_gaussian(0.3, 0.01), sampled_gaussian(0.05, 1e-4), laplace_law(9),
        sampled_law(laplace_law(40), 1e-3), sampled_law(bounded_range_law(300), 1e-5),
        bounded_range_law(12), folded(sampled_gaussian(0.2, 0.05)), gaussian_law(4),
        revealed_law(bounded_range_law(60), 1e-3)}) {
    for (const double end : {0.5, 4.0, 8.0}) {
      const CellGrid grid = discretise(bounded_law(law, end), 1e-2, 1e-30);
      for (const double epsilon : {0.0, 0.1, 0.4, 2.0, 6.0, 20.0}) {
        for (const bool reverse : {false, true}) {
          const CellGrid g = reverse ? grid.mirrored() : grid;
          const double exact =
              reverse ? law.reverse_hockey_stick(epsilon) : law.hockey_stick(epsilon);
          EXPECT_GE(step_delta(g.upper_step(), 1e-2, epsilon), exact * (1 - 1e-10));
          const StepLaw low = g.lower_step();
          EXPECT_LE(step_delta(low, 1e-2, epsilon) - low.far * std::exp(epsilon),
                    exact * (1 + 1e-10));
          if (epsilon + 3 < end) {
            const double worse =
                std::max(law.hockey_stick(epsilon), law.reverse_hockey_stick(epsilon));
            EXPECT_LE(step_delta(g.upper_step(), 1e-2, epsilon), worse * 1.06) << end;
          }
        }
      }
    }
  }
}

TEST(PldGrid, TheEndsOfAnExponentialPieceAddUp) {
  for (const double gamma : {1.0, 0.2, 1e-9}) {
    const ExponentialPiece piece{.top = 0.31, .range = 3.7, .gamma = gamma};
    for (const double z : {-3.7, -3.0, 0.0, 1.4, 3.7}) {
      EXPECT_NEAR(piece.below(z).p + piece.above(z).p, piece.mass(), 1e-15);
      EXPECT_NEAR(piece.below(z).q + piece.above(z).q, piece.mass(), 1e-15);
      PieceTail sum;  // the rectangle rule in the middle of ten thousand strips
      for (int i = 0; i < 10'000; ++i) {
        const double width = (3.7 - z) / 10'000;
        const PieceNode n = piece.at(z + (i + 0.5) * width);
        sum.p += n.p * width, sum.q += n.q * width;
      }
      EXPECT_NEAR(piece.above(z).p, sum.p, 1e-7);
      EXPECT_NEAR(piece.above(z).q, sum.q, 1e-7);
    }
  }
}

TEST(PldCompose, EnclosesTheGaussianDownToTenToTheMinusSixty) {
  for (double mu : {0.02, 0.1}) {
    for (std::uint64_t count : {10ULL, 400ULL}) {
      const PrivacyProfile profile({times(gaussian_by_grid(mu), count)});
      const double whole = mu * std::sqrt(static_cast<double>(count));
      for (double delta : {1e-3, 1e-6, 1e-12, 1e-14, 1e-30, 1e-60}) {
        const CertifiedInterval e = profile.epsilon(delta, 1e-3);
        const double exact = gaussian_epsilon_upper(whole, Delta(delta));
        EXPECT_GE(e.upper, exact * (1 - 1e-11)) << mu << " " << count << " " << delta;
        EXPECT_LE(e.lower, exact * (1 + 1e-11)) << mu << " " << count << " " << delta;
        EXPECT_LE(e.upper - e.lower, 1e-3 * e.upper) << mu << " " << count << " " << delta;
      }
    }
  }
}

TEST(PldCompose, AnswersDoNotDependOnTheTilt) {
  const double h = 1e-3, delta = 1e-12;
  const CellGrid grid = discretise(sampled_gaussian(1, 0.01), h, 1e-26);
  const std::vector<StepRun> up{{grid.upper_step(), 1000}}, low{{grid.lower_step(), 1000}};
  LossMoments moments;
  moments.add(loss_nodes(sampled_gaussian(1, 0.01), 1e-40), 1000);
  const double theta = moments.for_delta(delta, false).theta;
  const WindowTarget target{3.9, std::log(delta)};
  const double first = TiltedSum(up, h, theta, BoundSide::upper, 1 << 18, target).epsilon(delta);
  for (double factor : {0.6, 0.8}) {
    EXPECT_NEAR(TiltedSum(up, h, theta * factor, BoundSide::upper, 1 << 18, target).epsilon(delta),
                first, 1e-6 * first);
    EXPECT_LE(TiltedSum(low, h, theta * factor, BoundSide::lower, 1 << 18, target).epsilon(delta),
              first);
  }
}

TEST(PldCompose, FinerGridsGiveTighterBounds) {
  const PrivacyProfile profile({times(sampled_gaussian(1, 0.01), 3000)});
  double upper = 1e9, lower = 0;
  for (double tolerance : {1e-2, 1e-3, 1e-4}) {
    const CertifiedInterval e = profile.epsilon(1e-6, tolerance);
    EXPECT_LE(e.upper, upper);
    EXPECT_GE(e.lower, lower);
    EXPECT_LE(e.upper - e.lower, tolerance * e.upper);
    upper = e.upper;
    lower = e.lower;
  }
}

// Exact optimal composition of k copies of an ε₀-DP mechanism at ε: a binomial sum.
double kov_delta(double eps0, int k, double epsilon) {
  long double sum = 0;
  const long double p = 1 / (1 + std::exp(-static_cast<long double>(eps0)));
  for (int i = 0; i <= k; ++i) {
    const long double loss = (2 * i - k) * static_cast<long double>(eps0);
    if (loss <= epsilon) continue;
    const long double log_mass = std::lgamma(k + 1.0L) - std::lgamma(i + 1.0L) -
                                 std::lgamma(k - i + 1.0L) + i * std::log(p) +
                                 (k - i) * std::log1p(-p);
    sum += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  return static_cast<double>(sum);
}

TEST(PldCompose, RandomizedResponseOnItsOwnGridIsExact) {
  for (double eps0 : {0.03, 0.5, 2.0}) {
    for (int k : {2, 17, 300}) {
      const PrivacyProfile profile(
          {times(approximate_law(eps0, 0), static_cast<std::uint64_t>(k))});
      for (double share : {0.0, 0.2, 0.6}) {
        const double epsilon = share * k * eps0, exact = kov_delta(eps0, k, epsilon);
        const CertifiedInterval d = profile.delta(epsilon, 1e-3);
        EXPECT_GE(d.upper, exact * (1 - 1e-9)) << eps0 << " " << k << " " << share;
        EXPECT_LE(d.lower, exact * (1 + 1e-9));
        EXPECT_LE(d.upper, exact * (1 + 1e-5) + 1e-300) << eps0 << " " << k << " " << share;
      }
    }
  }
}

// A few atoms each, all products written out: the largest losses are a hundred times the answer.
double product_delta(const std::vector<LossLaw>& laws, double epsilon, bool reverse) {
  std::vector<LossAtom> all = {{0, 1, 1}};
  for (const LossLaw& law : laws) {
    std::vector<LossAtom> more;
    for (const LossAtom& a : all)
      for (const LossAtom& b : law.atoms) more.push_back({a.loss + b.loss, a.p * b.p, a.q * b.q});
    all = std::move(more);
  }
  double sum = 0;
  for (const LossAtom& a : all) {
    const double loss = reverse ? -a.loss : a.loss;
    if (loss > epsilon) sum += (reverse ? a.q : a.p) * -std::expm1(epsilon - loss);
  }
  return sum;
}

TEST(PldProfile, RareAndHugeLossesBesideSmallOnesAreEnclosed) {
  for (const double rate : {1e-3, 1e-6, 2e-11}) {
    for (const double huge : {250.0, 700.0}) {
      const std::vector<LossLaw> laws = {
          sampled_law(approximate_law(huge, 0), rate), sampled_law(approximate_law(huge, 0), rate),
          approximate_law(0.3, 0), sampled_law(approximate_law(0.2, 0), 0.5),
          revealed_law(approximate_law(huge / 2, 0), rate)};
      std::vector<LawRun> runs;
      for (const LossLaw& law : laws) runs.push_back(times(law, 1));
      const PrivacyProfile profile(runs);
      for (const double epsilon : {0.0, 0.1, 0.31, 0.5, 3.0}) {
        for (const bool reverse : {false, true}) {
          const double exact = product_delta(laws, epsilon, reverse);
          const CertifiedInterval d =
              profile.delta(epsilon, 1e-3, reverse ? Direction::addition : Direction::removal);
          EXPECT_GE(d.upper, exact * (1 - 1e-10)) << rate << " " << huge << " " << epsilon;
          EXPECT_LE(d.lower, exact * (1 + 1e-10)) << rate << " " << huge << " " << epsilon;
          EXPECT_LE(d.upper, exact * 1.02 + 1e-14) << rate << " " << huge << " " << epsilon;
        }
      }
      for (const double delta : {0.02, 4 * rate, 3.1 * rate}) {
        const CertifiedInterval e = profile.epsilon(delta, 1e-3);
        const auto worse = [&](double epsilon) {
          return std::max(product_delta(laws, epsilon, false), product_delta(laws, epsilon, true));
        };
        EXPECT_LE(worse(e.upper), delta * (1 + 1e-10)) << rate << " " << huge << " " << delta;
        EXPECT_GE(worse(e.lower * (1 - 1e-9)), delta * (1 - 1e-10)) << rate << " " << huge;
        EXPECT_LE(e.upper, 0.51) << rate << " " << huge << " " << delta;
      }
    }
  }
}

}  // namespace sotto::engine_test
