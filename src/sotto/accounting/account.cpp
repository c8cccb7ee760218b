#include "sotto/accounting/account.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sotto/accounting/composition/detail/composition_account.hpp"
#include "sotto/accounting/composition/detail/pure_epsilon.hpp"
#include "sotto/accounting/composition/detail/shuffle_account.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/pld/pld_accountant.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr Accountant kAll[] = {Accountant::pld,    Accountant::rdp,   Accountant::zcdp,
                               Accountant::gdp,    Accountant::basic, Accountant::advanced,
                               Accountant::optimal};

void check_options(const AccountOptions& o) {
  if (!(o.tolerance > 0 && o.tolerance < 1)) {
    throw InvalidArgument(
        fmt::format("tolerance is {}; it must be above 0 and below 1", o.tolerance),
        fmt::format("{} is the default", kAccountingTolerance));
  }
  const bool fixed_only = o.accountant == Accountant::pld || o.accountant == Accountant::optimal ||
                          o.accountant == Accountant::advanced;
  if (o.fully_adaptive && fixed_only) {
    throw Unsupported(
        fmt::format("the {} accountant is not valid when the parameters of later events depend on "
                    "earlier releases",
                    name(o.accountant)),
        "use a privacy filter (zcdp, rdp, gdp or approximate) with a budget fixed in advance");
  }
}

Bound checked(Bound b, const char* what) {
  if (std::isnan(b.upper) || b.upper < 0 || std::isnan(b.lower)) {
    invariant_broken(fmt::format("the {} accountant returned {} = [{}, {}]", name(b.accountant),
                                 what, b.lower, b.upper));
  }
  if (!std::isfinite(b.upper)) {
    throw AccountingError(
        fmt::format("the {} accountant finds no finite {}", name(b.accountant), what),
        "the noise is so small that nothing is bounded; use more noise or fewer repetitions");
  }
  b.lower = consistent_lower(b.lower, b.upper, what);
  return b;
}

Bound epsilon_by(Accountant accountant, const Spec& spec, const CompositionAccount& composition,
                 Delta delta, const AccountOptions& options) {
  switch (accountant) {
    case Accountant::pld:
      return pld_epsilon(spec, delta, options.tolerance,
                         options.upper_only ? Wanted::upper : Wanted::both);
    case Accountant::rdp: return rdp_epsilon(spec, delta);
    case Accountant::zcdp: return zcdp_epsilon(spec, delta);
    case Accountant::gdp: return gdp_epsilon(spec, delta);
    case Accountant::basic: return composition.basic_epsilon(delta);
    case Accountant::advanced: return composition.advanced_epsilon(delta);
    case Accountant::optimal: return composition.optimal_epsilon(delta);
    case Accountant::automatic: break;
  }
  invariant_broken("automatic is not an accountant of its own");
}

// The smallest δ whose ε is at most the one given, by bisection on ln δ: for accountants that only
// know ε(δ).
Bound delta_by_inversion(Accountant accountant, const Spec& spec,
                         const CompositionAccount& composition, double eps) {
  const auto fits = [&](double log_delta) {
    try {
      return epsilon_by(accountant, spec, composition, Delta(std::exp(log_delta)), {}).upper <= eps;
    } catch (const AccountingError&) {
      return false;
    }
  };
  constexpr double kSmallest = -690, kLargest = -1e-9;
  (void)epsilon_by(accountant, spec, composition, Delta(std::exp(kLargest)),
                   {});  // an event it cannot express is refused, not inverted
  Bound b{1, 0, accountant, "inverted from epsilon as a function of delta"};
  if (!fits(kLargest)) return b;
  if (fits(kSmallest)) return b.upper = std::exp(kSmallest), b;
  const Bracket at =
      narrow([&](double x) { return fits(x) ? -1.0 : 1.0; }, kSmallest, kLargest, 1e-10);
  b.upper = next_up(std::exp(at.high));
  return b;
}

Bound delta_by(Accountant accountant, const Spec& spec, const CompositionAccount& composition,
               double eps, double tolerance) {
  switch (accountant) {
    case Accountant::pld: return pld_delta(spec, eps, tolerance);
    case Accountant::rdp: return rdp_delta(spec, eps);
    case Accountant::zcdp: return zcdp_delta(spec, eps);
    case Accountant::gdp: return gdp_delta(spec, eps);
    case Accountant::optimal:
      if (const auto b = composition.optimal_delta(eps)) return *b;
      return delta_by_inversion(accountant, spec, composition, eps);
    case Accountant::basic:
      if (const auto b = shuffled_delta(spec, eps)) return *b;
      return delta_by_inversion(accountant, spec, composition, eps);
    default: return delta_by_inversion(accountant, spec, composition, eps);
  }
}

// Asks the accountants in turn; keeps the smallest upper and the largest lower bound.
class Best {
 public:
  using Ask = std::function<Bound(Accountant)>;
  Best(Ask ask, const char* what) : ask_(std::move(ask)), what_(what) {}

  void try_one(Accountant a) {
    try {
      const Bound b = checked(ask_(a), what_);
      const double lower = std::max(b.lower, best_ ? best_->lower : 0);
      if (!best_ || b.upper < best_->upper) best_ = b;
      best_->lower = consistent_lower(lower, best_->upper, what_);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal || e.code() == ErrorCode::interrupted) throw;
      reasons_ += fmt::format("{}{}: {}", reasons_.empty() ? "" : "; ", name(a), e.what());
      hint_ = e.hint();
    }
  }
  bool tight(double tolerance) const {
    return best_ && best_->upper - best_->lower <= tolerance * best_->upper;
  }
  Bound answer() const {
    if (!best_)
      throw AccountingError("no accountant can bound these events (" + reasons_ + ")", hint_);
    return *best_;
  }

 private:
  Ask ask_;
  const char* what_;
  std::optional<Bound> best_;
  std::string reasons_, hint_;
};

Bound best_of_all(const Spec& spec, const AccountOptions& o, const Best::Ask& ask,
                  const char* what) {
  Best best(ask, what);
  if (o.fully_adaptive) {
    for (Accountant a : {Accountant::gdp, Accountant::zcdp, Accountant::rdp, Accountant::basic})
      best.try_one(a);
    Bound b = best.answer();
    b.lower = 0;
    b.conversion += ", as the budget of a filter fixed in advance";
    return b;
  }
  if (gdp_is_exact(spec)) return best.try_one(Accountant::gdp), best.answer();
  if (optimal_is_exact(spec)) {
    best.try_one(Accountant::optimal);
    if (best.tight(o.tolerance)) return best.answer();  // not beyond what its sums reach
  }
  // One shuffled event: composition has nothing to add.
  if (lone_shuffled(spec)) return best.try_one(Accountant::basic), best.answer();
  best.try_one(Accountant::pld);
  // Closed forms cost microseconds and are sometimes exact where a grid is only close.
  for (Accountant a : {Accountant::gdp, Accountant::zcdp}) best.try_one(a);
  if (!best.tight(o.tolerance)) {
    for (Accountant a :
         {Accountant::rdp, Accountant::basic, Accountant::advanced, Accountant::optimal})
      best.try_one(a);
  }
  return best.answer();
}

}  // namespace

Bound epsilon(const Spec& spec, Delta delta, const AccountOptions& options) {
  check_options(options);
  if (spec.events.empty()) return {0, 0, Accountant::basic, "nothing was done"};
  const CompositionAccount composition(spec);
  const auto ask = [&](Accountant a) { return epsilon_by(a, spec, composition, delta, options); };
  if (options.accountant != Accountant::automatic)
    return checked(ask(options.accountant), "epsilon");
  return best_of_all(spec, options, ask, "epsilon");
}

Bound delta(const Spec& spec, double eps, const AccountOptions& options) {
  check_options(options);
  if (!(eps >= 0) || !std::isfinite(eps)) {
    throw InvalidArgument(fmt::format("epsilon is {}; it must be a finite number, 0 or more", eps));
  }
  if (spec.events.empty()) return {0, 0, Accountant::basic, "nothing was done"};
  const CompositionAccount composition(spec);
  const auto ask = [&](Accountant a) {
    Bound b = delta_by(a, spec, composition, eps, options.tolerance);
    b.upper = std::min(1.0, b.upper);
    return b;
  };
  if (options.accountant != Accountant::automatic) return checked(ask(options.accountant), "delta");
  return best_of_all(spec, options, ask, "delta");
}

std::vector<Comparison> compare(const Spec& spec, Delta delta, const AccountOptions& options) {
  std::vector<Comparison> table;
  const CompositionAccount composition(spec);
  for (Accountant a : kAll) {
    AccountOptions one = options;
    one.accountant = a;
    Comparison line{a, std::nullopt, {}};
    try {
      check_options(one);
      line.bound = spec.events.empty()
                       ? epsilon(spec, delta, one)
                       : checked(epsilon_by(a, spec, composition, delta, one), "epsilon");
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal || e.code() == ErrorCode::interrupted) throw;
      line.refusal = e.what();
    }
    table.push_back(std::move(line));
  }
  double lower = 0, upper = kInfinity;
  for (const Comparison& line : table) {
    if (!line.bound) continue;
    lower = std::max(lower, line.bound->lower);
    upper = std::min(upper, line.bound->upper);
  }
  (void)consistent_lower(lower, upper, "epsilon");
  return table;
}

Bound guarantee(const Spec& spec, double delta, const AccountOptions& options) {
  if (delta != 0) return epsilon(spec, Delta(delta), options);
  const double pure = pure_epsilon(spec);
  if (!std::isfinite(pure)) {
    throw AccountingError("the events have no guarantee at delta = 0", "state a delta, e.g. 1e-6");
  }
  return {pure, 0, Accountant::basic, "sum of pure epsilons"};
}

}  // namespace sotto
