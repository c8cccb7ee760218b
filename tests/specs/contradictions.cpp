#include "specs/contradictions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sotto/accounting/account.hpp"

namespace sotto::specs {
namespace {

// Asked of the numerical accountant: mostly a cheap one, which is no less certain, now and then one
// that leaves less room for slips.
constexpr double kCoarse = 3e-2, kFine = 1e-3;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The tightest of several bounds, and who said so.
struct Meet {
  double lower = 0, upper = std::numeric_limits<double>::infinity();
  std::string lower_by = "nobody", upper_by = "nobody";

  void include(const Bound& b) {
    if (b.lower > lower) lower = b.lower, lower_by = name(b.accountant);
    if (b.upper < upper) upper = b.upper, upper_by = name(b.accountant);
  }
  bool answered() const { return std::isfinite(upper); }
};

class Examination {
 public:
  Examination(const Question& q, const Limits& limits) : question_(q), limits_(limits) {}

  Findings run(Dice& dice) {
    if (dice.chance(0.1)) tolerance_ = kFine;
    const Meet at_delta = everyone();
    if (dice.chance(0.25)) against_the_best(at_delta);
    if (!at_delta.answered()) return findings_;
    // ε(δ) ≤ e says δ(e) ≤ δ, and ε(δ) ≥ e says δ(e') ≥ δ for every e' below e.
    if (at_delta.lower == 0 || dice.chance(0.5)) {
      if (at_delta.upper > 0) delta_at_the_claim(at_delta);
    } else {
      delta_at_the_lower_bound(at_delta);
    }
    for (const Costlier& c : costlier_than(question_.spec, dice, limits_.costlier))
      compare_with(c, at_delta);
    return findings_;
  }

 private:
  void report(const std::string& what) {
    findings_.contradictions.push_back(
        fmt::format("{} | delta {} | {}", what, question_.delta, to_json(question_.spec).dump()));
  }

  template <class Ask>
  std::optional<Bound> ask(const std::string& what, const Spec& spec, const AccountOptions& options,
                           const Ask& f) {
    ++findings_.asked;
    const double start = processor_seconds();
    std::optional<Bound> answer;
    try {
      answer = f(options);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal)
        report(fmt::format("{} by {}: {}", what, name(options.accountant), e.what()));
    } catch (const std::exception& e) {
      report(fmt::format("{} by {}: {}", what, name(options.accountant), e.what()));
    }
    took(fmt::format("{} by {}", what, name(options.accountant)), spec,
         processor_seconds() - start);
    if (answer) take(what, *answer);
    return answer;
  }

  void took(const std::string& what, const Spec& spec, double seconds) {
    findings_.seconds[what] += seconds;
    const std::string question =
        fmt::format("delta {} | {}", question_.delta, to_json(spec).dump());
    if (seconds > findings_.slowest) {
      findings_.slowest = seconds;
      findings_.slowest_question = what + ", " + question;
    }
    if (seconds > limits_.seconds)
      findings_.slow.push_back(fmt::format("{} took {:.1f} s | {}", what, seconds, question));
  }

  void take(const std::string& what, const Bound& b) {
    ++findings_.answered;
    findings_.two_sided += b.lower > 0;
    if (!(b.lower >= 0 && b.lower <= b.upper && std::isfinite(b.upper)))
      report(fmt::format("{} by {} in [{}, {}]", what, name(b.accountant), b.lower, b.upper));
  }

  // All of them at once, as `sotto account --compare` asks: they share what they can.
  Meet everyone() {
    Meet meet;
    const double start = processor_seconds();
    try {
      for (const Comparison& line :
           compare(question_.spec, Delta(question_.delta), {.tolerance = tolerance_})) {
        ++findings_.asked;
        if (!line.bound) continue;
        take("epsilon", *line.bound);
        meet.include(*line.bound);
      }
    } catch (const std::exception& e) {
      report(fmt::format("epsilon by all: {}", e.what()));
    }
    took("epsilon by all", question_.spec, processor_seconds() - start);
    return meet;
  }

  // The automatic choice against each of them.
  void against_the_best(const Meet& meet) {
    const auto best = ask("epsilon", question_.spec, {.tolerance = tolerance_}, [&](const auto& o) {
      return epsilon(question_.spec, Delta(question_.delta), o);
    });
    if (meet.answered() && !best) report("epsilon: auto refuses what an accountant can bound");
    if (!best) return;
    if (best->lower > meet.upper || meet.lower > best->upper)
      report(fmt::format("epsilon by auto in [{}, {}], by others in [{}, {}]", best->lower,
                         best->upper, meet.lower, meet.upper));
    if (best->upper > meet.upper * (1 + tolerance_) + 1e-300)
      report(fmt::format("epsilon by auto at most {}, but {} says {}", best->upper, meet.upper_by,
                         meet.upper));
  }

  void delta_at_the_claim(const Meet& at_delta) {
    const Meet there = delta_at(at_delta.upper);
    if (there.lower > question_.delta)
      report(fmt::format("epsilon at most {} by {}, but delta there at least {} by {}",
                         at_delta.upper, at_delta.upper_by, there.lower, there.lower_by));
  }
  void delta_at_the_lower_bound(const Meet& at_delta) {
    const Meet below = delta_at(at_delta.lower * (1 - 1e-9));
    if (below.upper < question_.delta)
      report(fmt::format("epsilon at least {} by {}, but delta there at most {} by {}",
                         at_delta.lower, at_delta.lower_by, below.upper, below.upper_by));
  }

  Meet delta_at(double epsilon) {
    Meet meet;
    // The others invert their ε(δ), which was asked already.
    for (const Accountant a : {Accountant::pld, Accountant::rdp, Accountant::zcdp, Accountant::gdp,
                               Accountant::optimal}) {
      if (a == Accountant::optimal && !pure_parts_only()) continue;
      const AccountOptions o{.accountant = a, .tolerance = tolerance_};
      if (const auto b = ask("delta", question_.spec, o, [&](const AccountOptions& options) {
            return delta(question_.spec, epsilon, options);
          }))
        meet.include(*b);
    }
    if (meet.lower > meet.upper)
      report(fmt::format("delta at {}: lower {} by {} > upper {} by {}", epsilon, meet.lower,
                         meet.lower_by, meet.upper, meet.upper_by));
    return meet;
  }

  bool pure_parts_only() const {
    for (const Event& e : question_.spec.events) {
      if (!e.get_if<PureEvent>() && !e.get_if<ApproximateEvent>() &&
          !e.get_if<RandomizedResponseEvent>() && !e.get_if<LaplaceEvent>())
        return false;
    }
    return true;
  }

  void compare_with(const Costlier& costlier, const Meet& at_delta) {
    const auto more =
        ask("epsilon of a costlier one", costlier.spec, {.tolerance = tolerance_},
            [&](const auto& o) { return epsilon(costlier.spec, Delta(question_.delta), o); });
    if (!more) return;
    if (at_delta.lower > more->upper)
      report(fmt::format("epsilon at least {} by {} but at most {} by {} with {}", at_delta.lower,
                         at_delta.lower_by, more->upper, name(more->accountant), costlier.change));
    // Both claims may be too high by the tolerance.
    if (at_delta.upper > more->upper * (1 + 2.5 * tolerance_))
      report(fmt::format("the claim falls from {} ({}) to {} ({}) with {}", at_delta.upper,
                         at_delta.upper_by, more->upper, name(more->accountant), costlier.change));
  }

  const Question& question_;
  Limits limits_;
  Findings findings_;
  double tolerance_ = kCoarse;
};

}  // namespace

void Findings::add(const Findings& other) {
  asked += other.asked;
  answered += other.answered;
  two_sided += other.two_sided;
  for (const auto& [what, s] : other.seconds) seconds[what] += s;
  if (other.slowest > slowest) {
    slowest = other.slowest;
    slowest_question = other.slowest_question;
  }
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(contradictions, other.contradictions);
  append(slow, other.slow);
}

Findings examine(const Question& question, Dice& dice, const Limits& limits) {
  return Examination(question, limits).run(dice);
}

Findings examine(std::uint64_t seed, const Limits& limits) {
  Dice dice(~seed);
  return examine(random_question(seed), dice, limits);
}

}  // namespace sotto::specs
