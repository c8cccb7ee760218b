// Loss distributions against worst pairs integrated in 600-bit arithmetic, over the whole range of
// parameters: rates 1e-9 … 1, noise from a hundredth to a thousand contributions, δ down to where
// doubles end.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "support/real.hpp"

namespace sotto::dominating_pairs_test {

using test::Real;

// Noise of scale 1 around weighted places.
struct Part {
  Real weight, place;
};
using Mixture = std::vector<Part>;

struct Noise {
  Real (*density)(const Real& x);  // up to a constant factor
  Real (*above)(const Real& x);    // the mass beyond x
};

const Noise kNormal = {[](const Real& x) { return exp(-(x * x) / Real(2)); },
                       [](const Real& x) { return test::upper_tail(x); }};
const Noise kDouble = {
    [](const Real& x) { return exp(x < Real(0) ? x : -x); },
    [](const Real& x) { return x < Real(0) ? Real(1) - exp(x) / Real(2) : exp(-x) / Real(2); }};

Real sum(const Mixture& mixture, const Real& x, Real (*f)(const Real&)) {
  Real total;
  for (const Part& part : mixture) total = total + part.weight * f(x - part.place);
  return total;
}

Mixture mirrored(Mixture mixture) {
  for (Part& part : mixture) part.place = -part.place;
  return mixture;
}

// ∫(p − e^ε q)₊ where p/q does not fall with x; beyond ±reach nothing changes.
Real towards(const Noise& noise, const Mixture& p, const Mixture& q, const Real& epsilon,
             const Real& reach) {
  const Real factor = exp(epsilon);
  const auto loses = [&](const Real& x) {
    return factor * sum(q, x, noise.density) < sum(p, x, noise.density);
  };
  Real low = -reach, high = reach;
  if (!loses(high)) return Real(0);
  for (int i = 0; i < 400; ++i) {
    const Real middle = (low + high) / Real(2);
    (loses(middle) ? high : low) = middle;
  }
  const Real delta = sum(p, high, noise.above) - factor * sum(q, high, noise.above);
  return delta < Real(0) ? Real(0) : delta;
}

double true_delta(const Noise& noise, const Mixture& p, const Mixture& q, double epsilon,
                  double reach) {
  const Real one = towards(noise, p, q, epsilon, reach),
             other = towards(noise, mirrored(q), mirrored(p), epsilon, reach);
  return (one < other ? other : one).value();
}

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double between(double low, double high) {  // evenly in the logarithm
    return low * std::pow(high / low, std::uniform_real_distribution<>()(engine_));
  }

 private:
  std::mt19937 engine_;
};

// The pair of the event under each relation, in units of the noise.
void expect_bracketed(const Noise& noise, const Event& event, double rate, double place,
                      double epsilon) {
  const Mixture none = {{1, 0}}, with = {{Real(1) - Real(rate), 0}, {rate, place}},
                against = {{Real(1) - Real(rate), 0}, {rate, -place}};
  const double reach = 100 + place + (epsilon - std::log(rate) + 1) / place;
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    const bool replaced = relation == Relation::replace_one;
    const double truth = replaced ? true_delta(noise, with, against, epsilon, reach)
                                  : true_delta(noise, with, none, epsilon, reach);
    for (const Accountant accountant : {Accountant::pld, Accountant::rdp}) {
      Bound bound;
      try {
        bound = delta({relation, {poisson_sampled(event, rate)}}, epsilon,
                      {.accountant = accountant, .tolerance = 3e-2});
      } catch (const AccountingError&) {
        continue;  // no grid holds it: said, not guessed
      }
      const std::string what = std::string(event.name()) + " by " + std::string(name(accountant)) +
                               " " + std::string(name(relation)) + " rate " + std::to_string(rate) +
                               " place " + std::to_string(place) + " epsilon " +
                               std::to_string(epsilon);
      EXPECT_GE(bound.upper, truth * (1 - 1e-9)) << what;
      EXPECT_LE(bound.lower, truth * (1 + 1e-9) + 1e-300) << what;
    }
  }
}

TEST(DominatingPairs, SampledGaussianNoise) {
  Draw draw(1);
  for (int i = 0; i < 40; ++i) {
    const double sigma = draw.between(1e-2, 1e3), rate = i % 4 == 0 ? 1 : draw.between(1e-9, 1);
    expect_bracketed(kNormal, GaussianEvent::from_multiplier(sigma), rate, 1 / sigma,
                     draw.between(1e-6, 1e2) / std::max(1.0, sigma));
  }
}

TEST(DominatingPairs, SampledLaplaceNoise) {
  Draw draw(2);
  for (int i = 0; i < 40; ++i) {
    const double scale = draw.between(1e-2, 1e3), rate = i % 4 == 0 ? 1 : draw.between(1e-9, 1);
    expect_bracketed(kDouble, LaplaceEvent::from_multiplier(scale), rate, 1 / scale,
                     draw.between(1e-6, 2) / scale);
  }
}

// Draws of one record among n, each with a fresh sample: the others contribute nothing.
TEST(DominatingPairs, DrawsWithReplacement) {
  Draw draw(3);
  for (int i = 0; i < 12; ++i) {
    const double sigma = draw.between(0.3, 30), epsilon = draw.between(1e-3, 3);
    const auto size = static_cast<std::uint64_t>(draw.between(1, 12)), population = 20 * size;
    Mixture with, against;
    Real choose(1);
    for (std::uint64_t k = 0; k <= size; ++k) {
      const Real in = Real(1) / Real(static_cast<double>(population));
      const Real weight = choose * pow(in, Real(static_cast<double>(k))) *
                          pow(Real(1) - in, Real(static_cast<double>(size - k)));
      with.push_back({weight, Real(static_cast<double>(k)) / Real(sigma)});
      against.push_back({weight, -(Real(static_cast<double>(k)) / Real(sigma))});
      choose = choose * Real(static_cast<double>(size - k)) / Real(static_cast<double>(k + 1));
    }
    const Event event = SampledEvent{Scheme::with_replacement, 1, size, population,
                                     share(GaussianEvent::from_multiplier(sigma))};
    const Bound bound = delta({Relation::replace_one, {event}}, epsilon,
                              {.accountant = Accountant::pld, .tolerance = 3e-2});
    EXPECT_GE(bound.upper, true_delta(kNormal, with, against, epsilon, 1000) * (1 - 1e-9))
        << sigma << " " << size << " " << epsilon;
  }
}

// Σ (P(z) − e^ε P(z − Δ))₊ on the integers, term by term.
TEST(DominatingPairs, NoiseOnLattices) {
  Draw draw(4);
  for (int i = 0; i < 40; ++i) {
    const bool gaussian = i % 2 == 0;
    const double scale = draw.between(0.2, 40), steps = std::floor(draw.between(1, 8)),
                 epsilon = draw.between(1e-4, 3) * steps / scale;
    const int reach = static_cast<int>(60 * scale) + 60;
    const auto mass = [&](double z) {
      return gaussian ? exp(-(Real(z) * Real(z)) / (Real(2) * Real(scale) * Real(scale)))
                      : exp(-(Real(std::abs(z)) / Real(scale)));
    };
    Real total, lost;
    for (int z = -reach; z <= reach; ++z) {
      const Real p = mass(z), loss = p - exp(Real(epsilon)) * mass(z + steps);
      total = total + p;
      if (Real(0) < loss) lost = lost + loss;
    }
    const double truth = (lost / total).value();
    const Event event = gaussian ? Event(DiscreteGaussianEvent{scale, steps, 1, 1})
                                 : Event(DiscreteLaplaceEvent{scale, steps, 1, 1});
    const Bound bound = delta({Relation::add_remove, {event}}, epsilon,
                              {.accountant = Accountant::pld, .tolerance = 3e-2});
    EXPECT_GE(bound.upper, truth * (1 - 1e-9)) << event.name() << " " << scale << " " << steps;
    EXPECT_LE(bound.lower, truth * (1 + 1e-9) + 1e-300)
        << event.name() << " " << scale << " " << steps;
  }
}

}  // namespace sotto::dominating_pairs_test
