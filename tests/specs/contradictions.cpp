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

constexpr Accountant kAccountants[] = {Accountant::pld,    Accountant::rdp,   Accountant::zcdp,
                                       Accountant::gdp,    Accountant::basic, Accountant::advanced,
                                       Accountant::optimal};

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
    const Meet at_delta = everyone("epsilon", [&](const AccountOptions& o) {
      return epsilon(question_.spec, Delta(question_.delta), o);
    });
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
    const double seconds = processor_seconds() - start;
    findings_.seconds[fmt::format("{} by {}", what, name(options.accountant))] += seconds;
    if (seconds > findings_.slowest) {
      findings_.slowest = seconds;
      findings_.slowest_question =
          fmt::format("{} by {}, delta {}, {}", what, name(options.accountant), question_.delta,
                      to_json(spec).dump());
    }
    if (seconds > limits_.seconds)
      findings_.slow.push_back(fmt::format("{} by {} took {:.1f} s | delta {} | {}", what,
                                           name(options.accountant), seconds, question_.delta,
                                           to_json(spec).dump()));
    if (!answer) return answer;
    ++findings_.answered;
    findings_.two_sided += answer->lower > 0;
    if (!(answer->lower >= 0 && answer->lower <= answer->upper && std::isfinite(answer->upper)))
      report(fmt::format("{} by {} in [{}, {}]", what, name(options.accountant), answer->lower,
                         answer->upper));
    return answer;
  }

  template <class Ask>
  Meet everyone(const std::string& what, const Ask& f) {
    Meet meet;
    for (const Accountant a : kAccountants) {
      if (const auto b = ask(what, question_.spec, {.accountant = a, .tolerance = tolerance_}, f))
        meet.include(*b);
    }
    if (meet.lower > meet.upper)
      report(fmt::format("{}: lower {} by {} > upper {} by {}", what, meet.lower, meet.lower_by,
                         meet.upper, meet.upper_by));
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
