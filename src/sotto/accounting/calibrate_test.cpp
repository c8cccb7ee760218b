#include "sotto/accounting/calibrate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::calibrate_test {

SpecTemplate with_event(const std::string& event, const std::string& relation = "add_remove") {
  return SpecTemplate::parse(R"({"schema":1,"relation":")" + relation + R"(","events":[)" + event +
                             "]}");
}

AccountOptions by(Accountant a) {
  AccountOptions o;
  o.accountant = a;
  return o;
}

// The value is safe, and one part in a million beyond it is not.
void expect_sharp(const SpecTemplate& spec, double target, double delta, const AccountOptions& o) {
  const Calibration c = calibrate(spec, Epsilon(target), Delta(delta), o);
  EXPECT_LE(c.epsilon.upper, target);
  EXPECT_LE(epsilon(spec.with(c.value), Delta(delta), o).upper, target * (1 + 1e-12))
      << spec.unknown();
  if (spec.unknown_is_whole()) {
    EXPECT_EQ(c.value, std::floor(c.value));
    return;
  }
  const double up = epsilon(spec.with(c.value * (1 + 2e-6)), Delta(delta), o).upper;
  const double down = epsilon(spec.with(c.value * (1 - 2e-6)), Delta(delta), o).upper;
  EXPECT_GT(std::max(up, down), target) << spec.unknown() << " " << c.value;
}

TEST(Calibrate, AFunctionIsSolvedLikeTheDocumentItStandsFor) {
  const auto spec = with_event(
      R"({"repeat":{"count":50,"event":{"sampled":{"scheme":"poisson","rate":0.01,"event":{"gaussian":{"noise_multiplier":"?"}}}}}})");
  int refused = 0;
  const Unknown noise{
      .name = "noise_multiplier", .at = [&](double value) {
        if (value > 1e3) {
          ++refused;
          throw InvalidArgument("too much");
        }
        return Spec{Relation::add_remove,
                    {repeat(poisson_sampled(GaussianEvent::from_multiplier(value), 0.01), 50)}};
      }};
  const Calibration document = calibrate(spec, Epsilon(1), Delta(1e-5)),
                    function = calibrate(noise, Epsilon(1), Delta(1e-5));
  EXPECT_EQ(function.value, document.value);
  EXPECT_EQ(function.epsilon.upper, document.epsilon.upper);
  EXPECT_THROW(calibrate(noise, Epsilon(1e-9), Delta(1e-5), by(Accountant::rdp)), AccountingError);
  EXPECT_GT(refused, 0);  // a value that is refused is no answer
}

// The guess when it is good; else near it, on the safe side, and not far from something refused.
TEST(Calibrate, AGuessIsConfirmedOrMovedToTheSaferSide) {
  const Unknown rho{.name = "rho", .at = [](double value) {
                      return Spec{Relation::add_remove, {ZcdpEvent{value}}};
                    }};
  const Unknown noise{.name = "noise_multiplier", .at = [](double value) {
                        return Spec{Relation::add_remove, {GaussianEvent::from_multiplier(value)}};
                      }};
  const Epsilon target(1);
  const Delta delta(1e-6);
  const auto at = [&](const Unknown& u, double value) { return epsilon(u.at(value), delta).upper; };
  const double small = confirm(rho, 1e-3, Safer::smaller, target, delta).value;
  EXPECT_EQ(small, 1e-3) << "a guess that fits is taken";
  const double less = confirm(rho, 5, Safer::smaller, target, delta).value;
  EXPECT_LE(at(rho, less), 1);
  EXPECT_GT(at(rho, less * 1.006), 1);
  const double more = confirm(noise, 1, Safer::larger, target, delta).value;
  EXPECT_LE(at(noise, more), 1);
  EXPECT_GT(at(noise, more / 1.006), 1);
}

TEST(Calibrate, TheGaussianAgreesWithItsAnalyticCalibration) {
  const auto spec = with_event(R"({"gaussian":{"noise_multiplier":"?"}})");
  for (double eps : {0.01, 0.5, 2.0, 50.0}) {
    const Calibration c = calibrate(spec, Epsilon(eps), Delta(1e-6));
    const double sigma = gaussian_sigma(Epsilon(eps), Delta(1e-6));
    EXPECT_GE(c.value, sigma * (1 - 1e-12));
    EXPECT_LE(c.value, sigma * (1 + 2e-6));
  }
}

TEST(Calibrate, AnyParameterInAnyDirection) {
  const AccountOptions rdp = by(Accountant::rdp), basic = by(Accountant::basic);
  const std::string gaussian = R"({"gaussian":{"noise_multiplier":1.5}})";
  expect_sharp(
      with_event(
          R"({"repeat":{"count":100,"event":{"sampled":{"scheme":"poisson","rate":"?","event":)" +
          gaussian + "}}}}"),
      1, 1e-5, rdp);
  expect_sharp(
      with_event(
          R"({"repeat":{"count":"?","event":{"sampled":{"scheme":"poisson","rate":0.01,"event":)" +
          gaussian + "}}}}"),
      2, 1e-5, rdp);
  expect_sharp(with_event(R"({"laplace":{"scale":"?","sensitivity":3}})"), 0.7, 1e-5, basic);
  expect_sharp(with_event(R"({"laplace":{"scale":2,"sensitivity":"?"}})"), 0.7, 1e-5, basic);
  expect_sharp(with_event(R"({"repeat":{"count":30,"event":{"pure":{"epsilon":"?"}}}})"), 1, 1e-5,
               by(Accountant::optimal));
  expect_sharp(with_event(R"({"zcdp":{"rho":"?"}})"), 1, 1e-5, by(Accountant::zcdp));
  expect_sharp(with_event(R"({"gdp":{"mu":"?"}})"), 1, 1e-5, by(Accountant::gdp));
  expect_sharp(with_event(R"({"repeat":{"count":10,"event":{"exponential":{"epsilon":"?"}}}})"), 1,
               1e-5, rdp);
}

TEST(Calibrate, AccountingTheResultMeetsTheTarget) {
  const std::string steps =
      R"({"repeat":{"count":3000,"event":{"sampled":{"scheme":"poisson","rate":0.01,"event":{"gaussian":{"noise_multiplier":"?"}}}}}})";
  for (double tolerance : {kAccountingTolerance, 1e-3}) {
    AccountOptions o;
    o.tolerance = tolerance;
    const auto spec = with_event(steps);
    const Calibration c = calibrate(spec, Epsilon(1), Delta(1e-5), o);
    EXPECT_LE(epsilon(spec.with(c.value), Delta(1e-5), o).upper, 1) << tolerance;
  }
}

TEST(Calibrate, FindsAnOrderAndWhatItsCompanionsLimit) {
  expect_sharp(with_event(R"({"tcdp":{"rho":0.1,"omega":"?"}})"), 3, 1e-5, by(Accountant::rdp));
  const Calibration low = calibrate(with_event(R"({"tcdp":{"rho":0.1,"omega":"?"}})"), Epsilon(30),
                                    Delta(1e-5), by(Accountant::rdp));
  EXPECT_GT(low.value, 1);
  EXPECT_LT(low.value, 2);
  // A sample of at most ten records, and a population of at least a thousand: 64 is neither.
  const std::string sampled = R"({"sampled":{"scheme":"without_replacement","size":)";
  const std::string noise = R"("event":{"pure":{"epsilon":1}}}})";
  expect_sharp(with_event(sampled + R"("?","population":10,)" + noise, "replace_one"), 0.5, 1e-5,
               by(Accountant::basic));
  expect_sharp(with_event(sampled + R"(1000,"population":"?",)" + noise, "replace_one"), 0.1, 1e-5,
               by(Accountant::basic));
}

TEST(Calibrate, WholeNumbersAreTheLargestThatFit) {
  const auto spec =
      with_event(R"({"repeat":{"count":"?","event":{"gaussian":{"noise_multiplier":10}}}})");
  const Calibration c = calibrate(spec, Epsilon(4.9), Delta(1e-6));
  EXPECT_EQ(c.value, 100);  // ε(100) = 4.8866
  EXPECT_GT(epsilon(spec.with(c.value + 1), Delta(1e-6)).upper, 4.9);
}

TEST(Calibrate, SaysWhenNoValueMeetsTheTargetAndWhenEveryValueDoes) {
  EXPECT_THROW(
      calibrate(with_event(R"({"pure":{"epsilon":2}},{"gaussian":{"noise_multiplier":"?"}})"),
                Epsilon(1), Delta(1e-6), by(Accountant::basic)),
      AccountingError);
  EXPECT_THROW(
      calibrate(
          with_event(
              R"({"repeat":{"count":5,"event":{"sampled":{"scheme":"poisson","rate":"?","event":{"pure":{"epsilon":0.01}}}}}})"),
          Epsilon(10), Delta(1e-6), by(Accountant::basic)),
      AccountingError);
}

TEST(Calibrate, TheNumericalAccountantFindsTheTightNoiseOfTraining) {
  const auto spec = with_event(
      R"({"repeat":{"count":10000,"event":{"sampled":{"scheme":"poisson","rate":0.01,"event":{"gaussian":{"noise_multiplier":"?"}}}}}})");
  const auto start = std::chrono::steady_clock::now();
  const Calibration c = calibrate(spec, Epsilon(1), Delta(1e-5));
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("sigma %.7f, epsilon %.9f, %d evaluations, %.0f ms, accountant %s\n", c.value,
              c.epsilon.upper, c.evaluations, ms, std::string(name(c.epsilon.accountant)).c_str());
  EXPECT_LE(c.epsilon.upper, 1);
  if (c.epsilon.accountant == Accountant::pld) {
    EXPECT_NEAR(c.value, 3.81282, 2e-4);
  } else {
    EXPECT_NEAR(c.value, 4.12526, 1e-4);
  }
}

TEST(SplitBudget, SharesFollowTheWeightsAndNeverExceedTheTotal) {
  const double weights[] = {1, 2, 0.1, 7.7};
  const auto parts = split_budget(weights, Epsilon(1), 1e-5);
  const ApproximateDp sum = basic_composition(parts);
  EXPECT_LE(sum.epsilon, 1);
  EXPECT_LE(sum.delta, 1e-5);
  EXPECT_GT(sum.epsilon, 1 - 1e-13);
  EXPECT_NEAR(parts[1].epsilon / parts[0].epsilon, 2, 1e-12);
  double rho = 0;
  for (double r : split_rho(weights, Rho(0.5))) rho += r;
  EXPECT_LE(rho, 0.5);
  std::vector<Event> events;
  for (double sigma : split_gaussian(weights, Epsilon(1), Delta(1e-5)))
    events.push_back(GaussianEvent::from_multiplier(sigma));
  const double together = epsilon({Relation::add_remove, events}, Delta(1e-5)).upper;
  EXPECT_LE(together, 1);
  EXPECT_GT(together, 1 - 1e-9);
  const double bad[] = {1, -1};
  EXPECT_THROW(split_budget(bad, Epsilon(1), 0), InvalidArgument);
}

}  // namespace sotto::calibrate_test
