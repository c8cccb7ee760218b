// Every accountant against what a mechanism of the event's description really does: small domains
// enumerated, pairs of densities integrated. An upper bound below it is the one defect that must
// not be.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/budget/adaptive_budget.hpp"
#include "sotto/accounting/composition/detail/pure_epsilon.hpp"
#include "sotto/accounting/composition/shuffle.hpp"
#include "sotto/accounting/numeric/detail/lattice.hpp"
#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/accounting/pld/law.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::soundness_test {

constexpr Accountant kEach[] = {Accountant::pld,     Accountant::rdp,      Accountant::zcdp,
                                Accountant::gdp,     Accountant::basic,    Accountant::advanced,
                                Accountant::optimal, Accountant::automatic};

// Calls check(accountant, bound) for all that have an answer; at least one must.
void for_each_answer(const Event& event, Relation relation, double delta,
                     const std::function<void(Accountant, const Bound&)>& check) {
  int answers = 0;
  for (Accountant a : kEach) {
    AccountOptions o;
    o.accountant = a;
    try {
      check(a, epsilon(Spec{relation, {event}}, Delta(delta), o));
      ++answers;
    } catch (const Unsupported&) {
    }
  }
  EXPECT_GT(answers, 1);
}

// true_delta(ε): what some mechanism of this description loses at ε. So every claim ε has
// true_delta(ε) ≤ δ.
void expect_covers(const Event& event, Relation relation, double delta,
                   const std::function<double(double)>& true_delta) {
  for_each_answer(event, relation, delta, [&](Accountant a, const Bound& b) {
    EXPECT_LE(true_delta(b.upper), delta * (1 + 1e-9)) << name(a) << " claims " << b.upper;
    EXPECT_LE(b.lower, b.upper) << name(a);
  });
}

void expect_at_least(const Event& event, double truth, Relation relation = Relation::add_remove,
                     double delta = 1e-5) {
  for_each_answer(event, relation, delta, [&](Accountant a, const Bound& b) {
    EXPECT_GE(b.upper, truth) << event.name() << " by " << name(a);
  });
}

// ∫(p − e^ε q)₊ over the line.
double hockey_stick(const std::function<double(double)>& p, const std::function<double(double)>& q,
                    double epsilon) {
  double sum = 0;
  constexpr double kFrom = -12, kTo = 15, kStep = 4e-3;
  for (double z = kFrom; z < kTo; z += kStep)
    sum += kStep * std::max(0.0, p(z) - std::exp(epsilon) * q(z));
  return sum;
}

double normal(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }

// ---- numbers beyond e^709 ----

TEST(Soundness, HugeLossesOfRenyiCurvesDoNotVanish) {
  const double gaussian = gaussian_epsilon_lower(20, Delta(1e-5));  // ρ = 200
  EXPECT_NEAR(gaussian, 284.39, 0.01);
  expect_at_least(ZcdpEvent{200}, gaussian);
  expect_at_least(ZcdpEvent{1e5}, gaussian_epsilon_lower(std::sqrt(2e5), Delta(1e-5)));
  for (double omega : {1.25, 10.0, 1e4})
    expect_at_least(TcdpEvent{0.1, omega}, gaussian_epsilon_lower(std::sqrt(0.2), Delta(1e-5)));
  expect_at_least(DiscreteGaussianEvent{0.05, 1, 1, 2}, 199.99);
  expect_at_least(poisson_sampled(ZcdpEvent{200}, 0.1), 271);
  expect_at_least(repeat(ZcdpEvent{200}, 3), gaussian_epsilon_lower(std::sqrt(1200), Delta(1e-5)));
}

TEST(Soundness, HugePureLossesDoNotVanish) {
  expect_at_least(PureEvent{800}, 799.9);
  expect_at_least(ExponentialEvent{750}, 374.9);
  expect_at_least(RandomizedResponseEvent{900, 5}, 899.9);
  expect_at_least(LaplaceEvent{1, 1500}, 1499.9);
  expect_at_least(repeat(LaplaceEvent{1, 1500}, 2), 2990);
  expect_at_least(repeat(ExponentialEvent{1500}, 2), 1499);
  expect_at_least(poisson_sampled(LaplaceEvent{1, 1500}, 0.1), 1497);
  expect_at_least(poisson_sampled(PureEvent{800}, 0.1), 797);
  expect_at_least(DiscreteLaplaceEvent{0.001, 3, 1, 1}, 2999.9);
  expect_at_least(repeat(DiscreteLaplaceEvent{1, 1e6, 1, 1}, 2), 1.9e6);
}

TEST(Soundness, ALawThatHasLostMassChargesIt) {
  LossLaw law;
  law.atoms = {{0, 0.9, 1}};
  charge_missing_mass(law);
  EXPECT_NEAR(law.charged, 0.1, 1e-12);
  law.atoms = {{0, std::nan(""), 1}};
  EXPECT_THROW(charge_missing_mass(law), AccountingError);
}

// A law from a curve that some pair has is that curve at the knots, whatever the range.
TEST(Soundness, ALawFromACurveHasTheCurve) {
  for (double mu : {0.01, 1.0, 30.0, 90.0}) {
    const double end = mu * mu / 2 + 12 * mu;
    const auto curve = [&](double e) { return std::exp(gaussian_log_delta(mu, e)); };
    const LossLaw law = law_from_curve(end, 512, curve);
    double p = law.p_infinite, q = law.q_infinite;
    for (const LossAtom& a : law.atoms) p += a.p, q += a.q;
    EXPECT_NEAR(p, 1, 1e-11) << mu;
    EXPECT_NEAR(q, 1, 1e-11) << mu;
    for (int i = 0; i <= 512; i += 64) {
      const double e = end * i / 512;
      EXPECT_GE(law.hockey_stick(e), curve(e) * (1 - 1e-11)) << mu << " at " << e;
      EXPECT_LE(law.hockey_stick(e), curve(e) * (1 + 1e-9)) << mu << " at " << e;
    }
  }
  // A curve that no pair has is lowered to one: δ(0) = 0.7 at a range of 0.01 needs losses beyond
  // it.
  const LossLaw low = law_from_curve(0.01, 512, [](double e) { return 0.7 * std::exp(-500 * e); });
  EXPECT_LT(low.hockey_stick(0), 0.01);
  EXPECT_GE(low.hockey_stick(0.01), 0.7 * std::exp(-5) * (1 - 1e-11));
}

// Asked at few places, the curve is still one that the true one lies below.
TEST(Soundness, ACurveThatIsAskedWhereItFallsLiesAboveTheTruth) {
  for (double mu : {1.0, 300.0}) {
    const double end = mu * mu / 2 + 12 * mu;
    int asked = 0;
    const auto curve = [&](double e) { return ++asked, std::exp(gaussian_log_delta(mu, e)); };
    const DeltaCurve found = falling_curve(end, 64, curve);
    EXPECT_LE(asked, mu > 1 ? 30 : 65);
    ASSERT_EQ(found.deltas.size(), 65u);
    const LossLaw law = law_from_curve(found);
    for (std::size_t i = 0; i < found.deltas.size(); ++i) {
      const double e = found.epsilons[i], truth = curve(e);
      EXPECT_GE(found.deltas[i], truth) << mu << " at " << e;
      EXPECT_LE(found.deltas[i], truth * (1 + 2e-9)) << mu << " at " << e;
      EXPECT_GE(law.hockey_stick(e), truth * (1 - 1e-11)) << mu << " at " << e;
    }
  }
}

// ---- private selection ----

// Products with such a shape leave the normal numbers; the law is the logarithmic one.
TEST(Soundness, SelectionOfSubnormalShapeCostsAsTheLogarithmic) {
  const auto of = [](double shape) {
    const Event event =
        PrivateSelectionEvent{.distribution = SelectionDistribution::truncated_negative_binomial,
                              .shape = shape,
                              .mean = 100,
                              .event = std::make_shared<const Event>(GdpEvent{1})};
    return epsilon({Relation::add_remove, {event}}, Delta(1e-5)).upper;
  };
  for (const double shape : {5e-324, 1e-323, 1e-310, 1e-200}) EXPECT_NEAR(of(shape), of(0), 1e-9);
}

// Randomized response, the larger answer wins; nothing when there was no run.
TEST(Soundness, PoissonSelectionCountsTheCaseOfNoRun) {
  for (double mean : {0.05, 0.5, 0.9, 1.5, 6.0}) {
    for (double e0 : {0.3, 2.0}) {
      const double one = 1 / (1 + std::exp(-e0));
      const auto law = [&](double ones, double* out) {
        out[0] = std::exp(-mean);                                  // no run
        out[1] = std::exp(-mean) * std::expm1(mean * (1 - ones));  // only zeros
        out[2] = -std::expm1(-mean * ones);                        // a one among them
      };
      double p[3], q[3];
      law(one, p), law(1 - one, q);
      const auto true_delta = [&](double e) {
        double there = 0, back = 0;
        for (int i = 0; i < 3; ++i) {
          there += std::max(0.0, p[i] - std::exp(e) * q[i]);
          back += std::max(0.0, q[i] - std::exp(e) * p[i]);
        }
        return std::max(there, back);
      };
      const PrivateSelectionEvent event{SelectionDistribution::poisson, 1, mean,
                                        share(RandomizedResponseEvent{e0, 2})};
      expect_covers(event, Relation::replace_one, 1e-6, true_delta);
    }
  }
  const PrivateSelectionEvent half{SelectionDistribution::poisson, 1, 0.5,
                                   share(RandomizedResponseEvent{2, 2})};
  expect_at_least(half, 2.198, Relation::add_remove, 1e-6);
  // Few runs cost little: the bound does not blow up either.
  const PrivateSelectionEvent rare{SelectionDistribution::poisson, 1, 1e-3,
                                   share(GaussianEvent{5, 1})};
  EXPECT_LT(epsilon(Spec{Relation::add_remove, {rare}}, Delta(1e-6)).upper, 1);
  // A ledger charges it, too.
  const AdaptiveBudget budget({.accountant = Accountant::rdp, .epsilon = 2, .delta = 1e-6});
  EXPECT_FALSE(budget.covers(budget.cost(half)));
}

// ---- samples of fixed size, a record zeroed out ----

// The other records contribute −1, the one +1 or nothing: (1−γ)N(0) + γN(2) against (1−γ)N(0) +
// γN(1), in units of the noise.
TEST(Soundness, ASampleWithoutTheZeroedRecordHoldsAnother) {
  for (double s : {0.7, 2.0}) {
    for (std::uint64_t size : {20, 300}) {
      const double gamma = static_cast<double>(size) / 1000;
      const auto mix = [&](double shift) {
        return [=](double z) { return (1 - gamma) * normal(z) + gamma * normal(z - shift / s); };
      };
      const SampledEvent event{Scheme::without_replacement, 1, size, 1000,
                               share(GaussianEvent::from_multiplier(s))};
      for (double delta : {1e-5}) {
        expect_covers(event, Relation::zero_out, delta, [&](double e) {
          return std::max(hockey_stick(mix(2), mix(1), e), hockey_stick(mix(1), mix(2), e));
        });
        // Seeing whether the record was drawn costs γ·δ(ε): no lower bound may pass that.
        const double revealed =
            delta / gamma < 1 ? gaussian_epsilon_upper(1 / s, Delta(delta / gamma)) : 0;
        EXPECT_LE(epsilon(Spec{Relation::zero_out, {event}}, Delta(delta)).lower, revealed + 1e-9);
      }
    }
  }
}

TEST(Soundness, DrawingAZeroedRecordOftenIsPaid) {
  const auto g = share(GaussianEvent::from_multiplier(1));
  const SampledEvent with{Scheme::with_replacement, 1, 10, 1000, g};
  expect_at_least(with, 2.817, Relation::zero_out);
  expect_at_least(repeat(SampledEvent{Scheme::without_replacement, 1, 20, 1000, g}, 50), 5.81,
                  Relation::zero_out);
  // One step is cheaper than a replacement, and never dearer than showing the draw.
  const double zeroed = epsilon(Spec{Relation::zero_out, {with}}, Delta(1e-5)).upper;
  EXPECT_LE(zeroed, epsilon(Spec{Relation::replace_one, {with}}, Delta(1e-5)).upper);
  for (const Event& inner : {Event(PureEvent{1}), Event(ZcdpEvent{0.3}), Event(TcdpEvent{0.1, 20}),
                             Event(ApproximateEvent{1, 1e-7}), Event(ExponentialEvent{1})}) {
    const SampledEvent event{Scheme::without_replacement, 1, 20, 1000, share(inner)};
    const double shown = epsilon(Spec{Relation::zero_out, {inner}}, Delta(1e-5 * 50)).upper;
    const Bound b = epsilon(Spec{Relation::zero_out, {event}}, Delta(1e-5));
    EXPECT_LE(b.upper, shown * (1 + 1e-3)) << inner.name();
    EXPECT_LE(b.lower, b.upper) << inner.name();
  }
}

// ε-DP for an input and the null one: p(a) = e^ε·p(null) and p(b) = e^−ε·p(null) on one output.
TEST(Soundness, ASampledPureMechanismIsPaidForTwoSteps) {
  const double e0 = 1, t = 1 / (1 + std::exp(e0)), gamma = 0.1;
  const double a = t * std::exp(e0), b = t * std::exp(-e0);
  const auto p = [&](double x) { return (1 - gamma) * b + gamma * x; };
  const auto true_delta = [&](double e) {
    return std::max(p(a) - std::exp(e) * p(t), (1 - p(t)) - std::exp(e) * (1 - p(a)));
  };
  expect_covers(SampledEvent{Scheme::without_replacement, 1, 10, 100, share(PureEvent{e0})},
                Relation::zero_out, 1e-9, [&](double e) { return std::max(0.0, true_delta(e)); });
}

// ---- shuffling ----

// All others hold b, whose reports avoid what the report of a says: counts of the first report.
TEST(Soundness, ShufflingNeedsEveryTwoInputsClose) {
  for (double e0 : {0.5, 2.0, 4.0}) {
    for (std::uint64_t n : {50, 10000}) {
      const double t = 1 / (1 + std::exp(e0)), a = t * std::exp(e0), b = t * std::exp(-e0);
      const auto count = [&](double own, std::uint64_t k) {
        const auto others = [&](std::uint64_t i) {
          return std::exp(log_binomial_pmf(n - 1, i, b, 1 - b));
        };
        return (k < n ? (1 - own) * others(k) : 0) + (k > 0 ? own * others(k - 1) : 0);
      };
      const auto true_delta = [&](double e) {
        double there = 0, back = 0;
        for (std::uint64_t k = 0; k <= std::min<std::uint64_t>(n, 4000); ++k) {
          const double p = count(a, k), q = count(t, k);
          there += std::max(0.0, p - std::exp(e) * q);
          back += std::max(0.0, q - std::exp(e) * p);
        }
        return std::max(there, back);
      };
      const ShuffledEvent event{n, share(PureEvent{e0})};
      expect_covers(event, Relation::zero_out, 1e-5, true_delta);
    }
  }
  expect_at_least(ShuffledEvent{10000, share(PureEvent{4})}, 3.9996, Relation::zero_out);
  // Randomized response bears any change of the answer, so nothing is lost there.
  const Event response = ShuffledEvent{10000, share(RandomizedResponseEvent{4, 2})};
  EXPECT_NEAR(epsilon(Spec{Relation::zero_out, {response}}, Delta(1e-5)).upper,
              shuffle_epsilon(4, 10000, Delta(1e-5)).upper, 1e-9);
}

// ---- lattices ----

TEST(Soundness, LatticeDistancesHaveOneMeaning) {
  EXPECT_EQ(lattice_steps_up(1.1, 0.1), 11);  // 1.1/0.1 is a rounding above 11
  EXPECT_EQ(lattice_steps_down(0.6, 0.2), 3);
  EXPECT_EQ(lattice_steps_up(1.5, 1), 2);
  EXPECT_EQ(lattice_steps_down(1.5, 1), 1);
  EXPECT_EQ(lattice_steps_down(0.5, 1), 0);
  EXPECT_EQ(lattice_vector_below(std::sqrt(2.0), 2), (std::vector<double>{1, 1}));
  EXPECT_EQ(lattice_vector_below(std::sqrt(2.0), 1), (std::vector<double>{1}));
  // Between two numbers of steps: no claim is below Δ/scale, no lower bound above what the lattice
  // allows.
  for (double distance : {0.5, 1.0, 1.5, 2.0, 2.7}) {
    for_each_answer(DiscreteLaplaceEvent{2, distance, 1, 1}, Relation::add_remove, 1e-9,
                    [&](Accountant a, const Bound& b) {
                      EXPECT_GE(b.upper, distance / 2 * (1 - 1e-6)) << name(a) << distance;
                      EXPECT_LE(b.lower, std::floor(distance) / 2) << name(a) << distance;
                    });
  }
}

// Exact by enumeration: every lattice vector within the sensitivity, both coordinates.
TEST(Soundness, LowerBoundsInSeveralDimensionsUseVectorsOfTheLattice) {
  const double sigma = 1, delta = 1e-5;
  const auto exact = [&](double square) {
    const auto true_delta = [&](double e, int v1, int v2) {
      double sum = 0, total = 0;
      for (int z = -30; z <= 30; ++z) total += std::exp(-0.5 * z * z / sigma / sigma);
      for (int x = -30; x <= 30; ++x) {
        for (int y = -30; y <= 30; ++y) {
          const double q = std::exp(-0.5 * (x * x + y * y) / sigma / sigma),
                       p = std::exp(-0.5 * ((x - v1) * (x - v1) + (y - v2) * (y - v2)) / sigma /
                                    sigma);
          sum += std::max(0.0, p - std::exp(e) * q);
        }
      }
      return sum / total / total;
    };
    double worst = 0;
    for (int v1 = 0; v1 * v1 <= square; ++v1) {
      for (int v2 = 0; v1 * v1 + v2 * v2 <= square; ++v2) {
        double low = 0, high = 100;
        for (int i = 0; i < 60; ++i) {
          const double mid = 0.5 * (low + high);
          (true_delta(mid, v1, v2) > delta ? low : high) = mid;
        }
        worst = std::max(worst, low);
      }
    }
    return worst;
  };
  for (double square : {1.0, 2.0, 3.0, 5.0}) {
    const double truth = exact(square);
    if (square == 2) {
      EXPECT_NEAR(truth, 6.701, 1e-3);
    }
    for_each_answer(DiscreteGaussianEvent{sigma, std::sqrt(square), 1, 2}, Relation::add_remove,
                    delta, [&](Accountant a, const Bound& b) {
                      EXPECT_LE(b.lower, truth + 1e-6) << name(a) << square;
                      EXPECT_GE(b.upper, truth - 1e-6) << name(a) << square;
                    });
  }
}

// ---- disjoint parts ----

TEST(Soundness, ARecordThatChangesItsPartPaysInBoth) {
  // Contributions: leaving moves one sum by 1, entering another by 1; staying moves one by 2.
  const Event wide = GaussianEvent::from_multiplier(1);
  expect_at_least(ParallelEvent{{wide, wide}}, gaussian_epsilon_lower(2, Delta(1e-5)),
                  Relation::replace_one);
  // Exact sensitivities hold for whatever happens to a part, so two of them add up.
  const Event exact = GaussianEvent{1, 1};
  for (const Event& parts : {Event(ParallelEvent{{exact, exact}}),
                             Event(ParallelEvent{{exact, GaussianEvent{1, 0.999}, exact}})}) {
    expect_at_least(parts, gaussian_epsilon_lower(std::sqrt(2), Delta(1e-5)),
                    Relation::replace_one);
    expect_at_least(repeat(parts, 3), gaussian_epsilon_lower(std::sqrt(6), Delta(1e-5)),
                    Relation::replace_one);
  }
  const Spec spec{Relation::replace_one, {ParallelEvent{{exact, exact}}}};
  EXPECT_NEAR(epsilon(spec, Delta(1e-5)).upper, gaussian_epsilon_upper(std::sqrt(2), Delta(1e-5)),
              1e-6);
  // The size of a part is not public when records move, so a sample of fixed size in it is refused
  // by all that need the size.
  const Event sized = SampledEvent{Scheme::without_replacement, 1, 10, 100, share(exact)};
  AccountOptions rdp;
  rdp.accountant = Accountant::rdp;
  EXPECT_THROW(
      epsilon(Spec{Relation::replace_one, {ParallelEvent{{sized, exact}}}}, Delta(1e-5), rdp),
      Unsupported);
  expect_at_least(ParallelEvent{{poisson_sampled(exact, 0.5), exact}}, 1, Relation::replace_one);
}

// One use of a mixture of Gaussians against the definition: both tails beyond the place where the
// loss is ε.
TEST(Soundness, MixturesOfGaussiansAreWhatTheirDensitiesSay) {
  const auto sf = [](double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); };
  for (const GaussianMixtureEvent& e :
       {GaussianMixtureEvent{0.5, {0, 1, 2}, {0.7, 0.2, 0.1}},
        GaussianMixtureEvent{0.2, {0, 0.3, 2}, {0.9, 0.09, 0.01}},
        GaussianMixtureEvent{0.9, {0.8, 2}, {0.9, 0.1}},  // never without the record
        GaussianMixtureEvent{0.1, {0.5, 1}, {0.6, 0.4}}}) {
    const auto loss = [&](double z) {
      double best = -1e300, sum = 0;
      for (std::size_t i = 0; i < e.sensitivities.size(); ++i) {
        const double c = e.sensitivities[i] / e.sigma,
                     x = std::log(e.probabilities[i]) + c * z - c * c / 2;
        sum = x > best ? sum * std::exp(best - x) + 1 : sum + std::exp(x - best);
        best = std::max(best, x);
      }
      return best + std::log(sum);
    };
    for (const double epsilon : {0.1, 1.0, 3.0, 9.0, 40.0}) {
      const auto place = [&](double value) {
        double low = -200, high = 200;
        for (int i = 0; i < 200; ++i) {
          const double middle = 0.5 * (low + high);
          (loss(middle) < value ? low : high) = middle;
        }
        return low;
      };
      const double above = place(epsilon), below = place(-epsilon);
      double removal = -std::exp(epsilon) * sf(above), addition = sf(-below);
      for (std::size_t i = 0; i < e.sensitivities.size(); ++i) {
        const double c = e.sensitivities[i] / e.sigma;
        removal += e.probabilities[i] * sf(above - c);
        addition -= std::exp(epsilon) * e.probabilities[i] * sf(c - below);
      }
      const double truth = std::max({removal, addition, 0.0});
      const Bound b = delta({Relation::add_remove, {e}}, epsilon,
                            {.accountant = Accountant::pld, .tolerance = 1e-3});
      EXPECT_GE(b.upper, truth * (1 - 1e-7) - 1e-14) << e.sigma << " " << epsilon;
      EXPECT_LE(b.lower, truth * (1 + 1e-7) + 1e-14) << e.sigma << " " << epsilon;
      EXPECT_LE(b.upper, truth * (1 + 1e-6) + 1e-14) << e.sigma << " " << epsilon;
    }
  }
}

// At the largest loss δ is 0; the rounding of a loss must not look like a lower bound.
TEST(Soundness, NothingIsCertainBeyondTheLargestLoss) {
  for (const double scale : {2.0387340144152963, 3.3, 7.1, 0.37}) {
    for (const double step : {0.025, 0.1, 1.0}) {
      const Spec spec{Relation::replace_one, {DiscreteLaplaceEvent{scale, 1, step, 11}}};
      const double most = pure_epsilon(spec);
      EXPECT_EQ(delta(spec, most, {.accountant = Accountant::pld}).lower, 0)
          << scale << " " << step;
    }
  }
}

// Fixed-size samples: other records may contribute the opposite of the one that is zeroed out or
// replaced.
TEST(Soundness, LowerBoundsOfFixedSizeSamplesSeeTheOtherRecords) {
  const auto ask = [](Relation relation, Scheme scheme, std::uint64_t size, std::uint64_t count) {
    const SampledEvent e{scheme, 1, size, 1000, share(GaussianEvent::from_multiplier(1))};
    return epsilon({relation, {repeat(e, count)}}, Delta(1e-5),
                   {.accountant = Accountant::pld, .tolerance = 1e-3});
  };
  const Bound many = ask(Relation::zero_out, Scheme::without_replacement, 20, 50);
  EXPECT_GE(many.lower, 5.7);
  EXPECT_LE(many.lower, many.upper);
  const Bound one = ask(Relation::zero_out, Scheme::with_replacement, 10, 1);
  EXPECT_GE(one.lower, 2.8);
  EXPECT_LE(one.lower, 3.43);
  const Bound replaced = ask(Relation::replace_one, Scheme::with_replacement, 10, 1);
  EXPECT_GE(replaced.lower, 3);
  EXPECT_LE(replaced.lower, replaced.upper);
}

// Whether the record was drawn is revealed: rate·δ(ε) of the mixture, in closed form. A mixture
// that is a part of a law has weights that do not add up to 1.
TEST(Soundness, MixturesInSamplesOfFixedSizeArePaidAsRevealed) {
  const GaussianMixtureEvent mixture{15.8, {0, 0.28}, {0.99845, 0.00155}};
  const SampledEvent sampled{Scheme::without_replacement, 1, 5087, 600792, share(mixture)};
  const double rate = 5087.0 / 600792;
  for (const double at : {1e-10, 1e-100, 4.6e-246}) {
    const Bound once = epsilon({Relation::zero_out, {mixture}}, Delta(at / rate),
                               {.accountant = Accountant::pld}),
                revealed = epsilon({Relation::zero_out, {sampled}}, Delta(at),
                                   {.accountant = Accountant::pld});
    EXPECT_GE(revealed.upper, once.lower * (1 - 1e-6)) << at;
    EXPECT_LE(revealed.upper, once.upper * (1 + 1e-3)) << at;
  }
  // And a hundred of them, against a hundred draws that nobody sees.
  const auto hundred = [](const Event& e) {
    return epsilon({Relation::zero_out, {repeat(e, 100)}}, Delta(1e-5),
                   {.accountant = Accountant::pld});
  };
  EXPECT_GE(hundred(sampled).upper, hundred(poisson_sampled(mixture, rate)).lower);
}

}  // namespace sotto::soundness_test
