// Empirical audits: many models of two neighbouring data sets. The lower bound on ε that an
// observer of the weights can prove must not exceed the claim, and must exceed it when the noise is
// too small for the claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "command_case_test.hpp"
#include "sotto/data/table.hpp"
#include "sotto/models/linear/training.hpp"
#include "support/statistics.hpp"

namespace sotto::cli {
namespace {

constexpr std::size_t kRuns = 600;  // for each data set; half to choose the test, half to count
constexpr double kDelta = 1e-6;

class ModelAudit : public CommandCase {
 protected:
  Table table(const Encoder& encoder, const std::string& name, const std::string& rows) const {
    return load_table(file(name, "x,y\n" + rows), encoder);
  }
  static std::vector<std::vector<double>> weights(const LinearTraining& training,
                                                  const Table& table, Rng& rng) {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < kRuns; ++i)
      all.push_back(training.fit(*table_in_memory(table), rng).value().weights);
    return all;
  }
  // A lower bound on ε with confidence 1 − kAlpha: the direction and the threshold come from the
  // first halves of the runs.
  static double epsilon_lower(const std::vector<std::vector<double>>& a,
                              const std::vector<std::vector<double>>& b) {
    const std::size_t half = kRuns / 2, d = a[0].size();
    std::vector<double> direction(d);
    for (std::size_t i = 0; i < half; ++i) {
      for (std::size_t j = 0; j < d; ++j) direction[j] += std::tanh(a[i][j]) - std::tanh(b[i][j]);
    }
    const auto score = [&](const std::vector<double>& w) {
      double s = 0;
      for (std::size_t j = 0; j < d; ++j) s += direction[j] * w[j];
      return s;
    };
    std::vector<double> thresholds;
    for (std::size_t i = 0; i < half; ++i) {
      thresholds.push_back(score(a[i]));
      thresholds.push_back(score(b[i]));
    }
    std::sort(thresholds.begin(), thresholds.end());
    const auto bound = [&](double threshold, std::size_t from, std::size_t to, double alpha) {
      std::uint64_t in_a = 0, in_b = 0;
      for (std::size_t i = from; i < to; ++i) {
        in_a += score(a[i]) > threshold;
        in_b += score(b[i]) > threshold;
      }
      const double p = test::clopper_pearson_lower(in_a, to - from, alpha / 2),
                   q = test::clopper_pearson_upper(in_b, to - from, alpha / 2);
      return p > kDelta ? std::log((p - kDelta) / q) : -INFINITY;
    };
    double best = thresholds[half], best_bound = -INFINITY;
    for (int k = 1; k < 20; ++k) {
      const double t = thresholds[thresholds.size() * static_cast<std::size_t>(k) / 20];
      const double e = bound(t, 0, half, 0.05);
      if (e > best_bound) best_bound = e, best = t;
    }
    return bound(best, half, kRuns, test::kAlpha);
  }
};

TEST_F(ModelAudit, NoMethodLeaksMoreThanItClaimsAndTooLittleNoiseIsCaught) {
  constexpr double kClaim = 0.5;
  std::size_t audited = 0, caught = 0;
  for (const LinearKind kind : {LinearKind::logistic, LinearKind::linear}) {
    const std::string target =
        kind == LinearKind::linear
            ? "type = \"numeric\"\nrole = \"target\"\nbounds = [-1, 1]\n"
            : "type = \"categorical\"\nrole = \"target\"\nvalues = [\"-1\", \"1\"]\n";
    const Facts facts = table_facts(Schema::from_toml(
        "relation = \"add_remove\"\nrows = 1\n[columns.x]\ntype = \"numeric\"\nbounds = [-1, 1]\n"
        "[columns.y]\n" +
        target));
    const Table with = table(*facts.encoder, "with.csv", "1,1\n"),
                without = table(*facts.encoder, "without.csv", "");
    for (const Method& declared : linear_methods()) {
      const std::string& method = declared.name;
      if (method == "none" || method == "auto") continue;
      const auto lower = [&](double epsilon) -> std::optional<double> {
        try {
          const LinearTraining training(
              facts, {.kind = kind,
                      .method = method,
                      .budget = Budget::approximate(epsilon, kDelta),
                      .options = {.iterations = method == "gradient" ? 4u : 0u, .threads = 1}});
          Rng rng = Rng::insecure_seed(7);
          const auto a = weights(training, with, rng);
          return std::max(epsilon_lower(a, weights(training, without, rng)),
                          epsilon_lower(weights(training, without, rng), a));
        } catch (const Error&) {
          return std::nullopt;  // not for this loss
        }
      };
      const auto honest = lower(kClaim);
      if (!honest) continue;
      ++audited;
      EXPECT_LE(*honest, kClaim) << name(kind) << " " << method;
      auto mutant = lower(1000 * kClaim);  // the noise of ε = 500, claimed as 0.5
      // A test in one direction can miss a difference that another amount of noise shows.
      if (mutant && *mutant <= kClaim) mutant = lower(100 * kClaim);
      ASSERT_TRUE(mutant.has_value());
      if (*mutant > kClaim) ++caught;
      RecordProperty(std::string(name(kind)) + "_" + method + "_mutant", std::to_string(*mutant));
      std::printf("  %s %s: at least %.3f of %.1f; with too little noise at least %.3f\n",
                  std::string(name(kind)).c_str(), method.c_str(), *honest, kClaim, *mutant);
    }
  }
  EXPECT_GE(audited, 5u);
  EXPECT_EQ(caught, audited);
}

}  // namespace
}  // namespace sotto::cli
