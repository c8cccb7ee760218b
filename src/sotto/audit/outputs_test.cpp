// Testers of mechanisms on honest ones, whose claim must stand, and on broken ones, which must be
// caught.
#include "sotto/audit/outputs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "sotto/core/error.hpp"

namespace sotto::audit::outputs_test {

constexpr std::size_t kRuns = 20000;
constexpr double kClaim = 1;
// Honest claims are held against bounds of this confidence; all engines have fixed seeds.
constexpr double kConfidence = 1 - 1e-6;

using Engine = std::mt19937_64;
// A mechanism on the input 0 or 1.
using Mechanism = std::function<std::string(int input, Engine& engine)>;

OutputAudit audit(const Mechanism& mechanism, double delta = 0) {
  Engine engine(11);
  std::vector<std::string> outputs[2];
  for (int input : {0, 1})
    for (std::size_t i = 0; i < kRuns; ++i) outputs[input].push_back(mechanism(input, engine));
  return audit_outputs(outputs[0], outputs[1],
                       {.delta = delta, .epsilon = kClaim, .confidence = kConfidence});
}

double uniform(Engine& engine) { return std::uniform_real_distribution<>(1e-300, 1)(engine); }
double laplace(double scale, Engine& engine) {
  return scale * (std::log(uniform(engine)) - std::log(uniform(engine)));
}
std::string text(double x) { return fmt::format("{}", x); }

// ---- honest ----

std::string laplace_mechanism(int input, Engine& e) { return text(input + laplace(1, e)); }
std::string geometric_mechanism(int input, Engine& e) {
  std::geometric_distribution<> g(1 - std::exp(-kClaim));
  return text(input + g(e) - g(e));
}
std::string randomized_response(int input, Engine& e) {
  const bool honest = uniform(e) < std::exp(kClaim) / (1 + std::exp(kClaim));
  return honest == (input == 1) ? "yes" : "no";
}
// Two queries, neighbours differ by one in each: half of the budget for the threshold, half for the
// queries, and it ends at the first answer above.
std::string sparse_vector(int input, Engine& e) {
  const double threshold = laplace(2, e);
  std::string out;
  for (const double query : {input == 1 ? 1.0 : 0.0, input == 1 ? 0.0 : 1.0}) {
    const bool above = query + laplace(4, e) >= threshold;
    out += above ? 'T' : 'F';
    if (above) break;
  }
  return out;
}

TEST(Outputs, NoMoreIsProvedThanUnequalSidesAllow) {
  const std::vector<std::string> few(40, "a"), many(4000, "b");
  for (const OutputAudit& a : {audit_outputs(few, many, {}), audit_outputs(many, few, {})}) {
    EXPECT_GT(a.epsilon, 1);
    EXPECT_LE(a.epsilon, a.ceiling * (1 + 1e-9));
  }
}

TEST(Outputs, HonestMechanismsKeepTheirClaim) {
  for (const Mechanism& m : {Mechanism(laplace_mechanism), Mechanism(geometric_mechanism),
                             Mechanism(randomized_response), Mechanism(sparse_vector)}) {
    const OutputAudit found = audit(m);
    EXPECT_LE(found.epsilon, kClaim) << found.event;
    EXPECT_EQ(found.delta, 0) << found.event;
  }
  // And what is there is seen.
  EXPECT_GT(audit(laplace_mechanism).epsilon, 0.8);
  EXPECT_GT(audit(geometric_mechanism).epsilon, 0.85);
  EXPECT_GT(audit(randomized_response).epsilon, 0.85);
  // D₂ of Laplace noise of scale 1 is ln(⅔e + ⅓e⁻²) = 0.62; two coins see most of it.
  EXPECT_GT(audit(laplace_mechanism).renyi, 0.35);
  EXPECT_LT(audit(laplace_mechanism).renyi, 0.62);
}

// ---- broken ----

struct Mutant {
  const char* what;
  Mechanism mechanism;
};

TEST(Outputs, BrokenMechanismsAreCaught) {
  const Mutant mutants[] = {
      {"half the noise", [](int in, Engine& e) { return text(in + laplace(0.5, e)); }},
      {"a sensitivity of 2 taken for 1",
       [](int in, Engine& e) { return text(2 * in + laplace(1, e)); }},
      {"two answers for the price of one",
       [](int in, Engine& e) { return text(in + laplace(1, e)) + " " + text(in + laplace(1, e)); }},
      {"a biased coin",
       [](int in, Engine& e) { return (e() % 100 < 80) == (in == 1) ? "yes" : "no"; }},
      {"noise from few random bits",
       [](int in, Engine& e) {
         const double u = (static_cast<double>(e() % 32768) + 0.5) / 32768;
         return text(in + (u < 0.5 ? std::log(2 * u) : -std::log(2 - 2 * u)));
       }},
      {"an exact count beside the noisy one",
       [](int in, Engine& e) { return text(in + laplace(1, e)) + (in == 1 ? " 101" : " 100"); }},
      {"a failure that depends on the data",
       [](int in, Engine& e) {
         return in == 1 && uniform(e) < 0.02 ? std::string("failed") : text(laplace(1, e));
       }},
      {"sparse vector without noise on the queries",
       [](int in, Engine& e) {
         const double threshold = 0.5 + laplace(1, e);
         std::string out;
         for (const double q : {in == 1 ? 1.0 : 0.0, in == 1 ? 0.0 : 1.0})
           out += q >= threshold ? 'T' : 'F';
         return out;
       }},
      {"sparse vector that draws the threshold anew and goes on",
       [](int in, Engine& e) {
         std::string out;
         for (int i = 0; i < 60; ++i)
           out += (i % 2 == in ? 1 : 0) + laplace(4, e) >= laplace(2, e) ? "1 " : "0 ";
         return out;
       }},
      {"sparse vector that goes on after answers above",
       [](int in, Engine& e) {
         const double threshold = laplace(2, e);
         std::string out;
         for (int i = 0; i < 20; ++i)
           out += ((i < 10) == (in == 1) ? 1 : 0) + laplace(2, e) >= threshold ? "1 " : "0 ";
         return out;
       }},
  };
  for (const Mutant& mutant : mutants) {
    const OutputAudit found = audit(mutant.mechanism);
    EXPECT_GT(found.epsilon, kClaim) << mutant.what << ": " << found.event;
  }
}

TEST(Outputs, ADeltaThatWasNotClaimedIsFound) {
  // With probability 0.1 the input itself.
  const OutputAudit found = audit([](int in, Engine& e) {
    return uniform(e) < 0.1 ? (in == 1 ? "in" : "out") : text(in + laplace(1, e));
  });
  EXPECT_GT(found.delta, 0.07);
  EXPECT_LT(found.delta, 0.11);
}

TEST(Outputs, FewRunsAreRefused) {
  const std::vector<std::string> few(19, "1"), enough(20, "1");
  EXPECT_THROW(audit_outputs(few, enough, {}), InvalidArgument);
  EXPECT_EQ(audit_outputs(enough, enough, {}).epsilon, 0);
}

TEST(Outputs, ExactLossesOfSmallLaws) {
  const double p = std::exp(1.0) / (1 + std::exp(1.0));
  EXPECT_NEAR(exact_epsilon({p, 1 - p}, {1 - p, p}), 1, 1e-12);
  EXPECT_EQ(exact_epsilon({0.5, 0.5}, {0.5, 0.5}), 0);
  EXPECT_EQ(exact_epsilon({0.5, 0.5, 0}, {0.5, 0.25, 0.25}), HUGE_VAL);
  EXPECT_NEAR(exact_epsilon({0.5, 0.5, 0}, {0.5, 0.25, 0.25}, 0.25), std::log(2.0) * 0, 1e-9);
  // δ(ε) = p − e^ε(1 − p).
  EXPECT_NEAR(exact_epsilon({p, 1 - p}, {1 - p, p}, p - std::exp(0.5) * (1 - p)), 0.5, 1e-9);
  EXPECT_THROW(exact_epsilon({1}, {0.5, 0.5}), InvalidArgument);
}

}  // namespace sotto::audit::outputs_test
