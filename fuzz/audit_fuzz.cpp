// Any bytes as what an audit is made from: a column of scores on each side, outputs of a program,
// counts of guesses. Every bound is a number between 0 and the most that so many could prove, or
// the input is refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "property.hpp"
#include "sotto/audit/outputs.hpp"
#include "sotto/audit/scores.hpp"
#include "sotto/core/error.hpp"

namespace {

using namespace sotto;
using namespace sotto::audit;

constexpr double kRoom = 1 + 1e-6;  // bounds are right to many digits, not to all

// The bytes as numbers of any kind: NaN, infinities, denormal ones, the same again and again.
std::vector<double> numbers(const std::uint8_t* data, std::size_t size) {
  std::vector<double> out;
  for (std::size_t at = 0; at + 2 <= size; at += 2) {
    const unsigned pair = data[at] + 256u * data[at + 1];
    const std::uint64_t bits = static_cast<std::uint64_t>(pair) << 48;
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    out.push_back(pair % 3 == 0 ? x : static_cast<double>(pair % 64));
  }
  return out;
}

void check_scores(const std::vector<double>& members, const std::vector<double>& others,
                  ThresholdChoice choice, double delta) {
  const ScoreAudit a = audit_scores(members, others, {.delta = delta, .choice = choice});
  require(a.auc.value >= 0 && a.auc.value <= 1, "an area is a share");
  require(a.advantage >= 0 && a.advantage <= 1, "an advantage is a share");
  require(a.clopper_pearson >= 0 && a.clopper_pearson <= a.clopper_pearson_ceiling * kRoom + 1e-9,
          "no more is proved than so many scores can prove");
  require(a.one_run >= 0 && a.one_run <= a.one_run_ceiling * kRoom + 1e-9,
          "no more is proved than so many guesses can prove");
  for (const RateAt& r : a.tpr_at_fpr) {
    const Interval& t = r.true_positive_rate;
    require(t.lower >= 0 && t.lower <= t.value && t.value <= t.upper && t.upper <= 1,
            "a rate lies in its interval");
  }
  double x = 0, y = 0;
  for (const auto& [fpr, tpr] : roc_curve(members, others)) {
    require(fpr >= x && tpr >= y && fpr <= 1 && tpr <= 1, "the curve rises");
    x = fpr, y = tpr;
  }
}

std::vector<std::string> words(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] % 8 == 0) {
      out.emplace_back();
    } else {
      out.back() += static_cast<char>(data[i]);
    }
  }
  return out;
}

template <class F>
void tolerate(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::usage,
            "an error of the input");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > 256) return 0;
  const double delta = data[1] % 4 == 0 ? 0 : std::ldexp(1, -static_cast<int>(data[1]));
  const std::size_t half = 2 + (size - 2) * (1 + data[2] % 3) / 4;
  const auto no_more = [&](double epsilon, double ceiling) {
    require(epsilon >= 0 && epsilon <= ceiling * kRoom + 1e-9,
            "no more is proved than so many can prove");
  };
  tolerate([&] {
    switch (data[0] % 8) {
      case 4:
      case 5: {
        const OutputAudit a =
            audit_outputs(words(data + 2, half - 2), words(data + half, size - half),
                          {.delta = std::min(delta, 0.5)});
        no_more(a.epsilon, a.ceiling);
        return require(a.delta >= 0 && a.delta <= 1 && a.renyi >= 0, "bounds are in range");
      }
      case 6: {
        const AttackCounts c{data[size - 1], data[1], data[2], data[3]};
        return no_more(clopper_pearson_epsilon(c, delta, 0.05),
                       clopper_pearson_ceiling(c.members(), c.nonmembers(), delta, 0.05));
      }
      case 7: {
        const OneRun run{data[size - 1], data[2], data[3]};
        return no_more(one_run_epsilon(run, delta, 0.05), one_run_ceiling(run, delta, 0.05));
      }
      default:
        check_scores(numbers(data + 2, half - 2), numbers(data + half, size - half),
                     static_cast<ThresholdChoice>(data[0] % 4), delta);
    }
  });
  return 0;
}
