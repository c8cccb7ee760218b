#include "sotto/accounting/budget/adaptive_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sotto/accounting/budget/filter.hpp"
#include "sotto/accounting/composition/detail/event_epsilon.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kSteps = 1e12;  // per unit of ε and ρ

// Steps of a number that a person wrote as a decimal: exact when it has at most twelve places, else
// rounded up.
double decimal_steps(double value) {
  const double steps = value * kSteps, nearest = std::nearbyint(steps);
  // The quotient is the double nearest to the decimal of that many steps.
  if (nearest < 0x1p53 && nearest / kSteps == value) return nearest;
  return std::ceil(widen_up(steps, kUlp));
}

// Steps of a cap: those of the decimal it was written as, else rounded down.
double cap_steps(double value) {
  const double steps = value * kSteps, nearest = std::nearbyint(steps);
  if (nearest < 0x1p53 && nearest / kSteps == value) return nearest;
  return std::max(0.0, std::floor(widen_down(steps, kUlp)));
}

// A non-negative number as the exact sum of two doubles, the second perhaps negative.
struct Twofold {
  double high, low = 0;
  static Twofold square(double x) { return {x * x, std::fma(x, x, -(x * x))}; }
};

// Steps of a ÷ b, rounded up, without any other rounding.
double quotient_steps(Twofold a, Twofold b) {
  const double near = std::nearbyint(a.high / b.high * kSteps);
  const bool plain = near < 0x1p52 && a.high > 1e-250 && b.high > 1e-250;  // no underflow below
  if (!plain) return std::ceil(widen_up(a.high / b.high * kSteps, 8 * kUlp));
  for (double steps = std::max(0.0, near - 2);; ++steps) {
    // steps·b ≥ kSteps·a, negative parts moved to the other side
    ExactSum left, right;
    const auto add = [](ExactSum& here, ExactSum& there, Twofold x, double count) {
      here.add(x.high, static_cast<std::uint64_t>(count));
      (x.low < 0 ? there : here).add(std::abs(x.low), static_cast<std::uint64_t>(count));
    };
    add(left, right, b, steps);
    add(right, left, a, kSteps);
    if (left >= right) return steps;
  }
}

// Steps of an upper bound that was computed.
double steps_up(double value) {
  return std::isfinite(value) ? std::ceil(multiply_up(value, kSteps)) : kInfinity;
}

// A part of δ, rounded down.
Delta part(double delta, double share) { return Delta(widen_down(delta * share, 2 * kUlp)); }

struct Price {
  double amount = 0, delta = 0;
};

Price pure_price(const Event& event, Relation relation) {
  if (const auto* e = event.get_if<PureEvent>()) return {decimal_steps(e->epsilon), 0};
  if (const auto* e = event.get_if<ExponentialEvent>()) return {decimal_steps(e->epsilon), 0};
  if (const auto* e = event.get_if<RandomizedResponseEvent>())
    return {decimal_steps(e->epsilon), 0};
  if (const auto* e = event.get_if<ApproximateEvent>())
    return {decimal_steps(e->epsilon), e->delta};
  if (const auto* e = event.get_if<LaplaceEvent>()) {
    const double factor = e->basis == Basis::contribution ? contribution_factor(relation) : 1;
    return {quotient_steps({factor * e->sensitivity}, {e->scale}), 0};
  }
  if (const auto* e = event.get_if<DiscreteLaplaceEvent>())
    return {quotient_steps({e->sensitivity}, {e->scale}), 0};
  if (const auto pair = pure_parameters(event, relation))
    return {steps_up(pair->epsilon), pair->delta};
  return {steps_up(event_epsilon(event, relation, 0)), 0};
}

Price zcdp_price(const Event& event, Relation relation) {
  if (const auto* e = event.get_if<ZcdpEvent>()) return {decimal_steps(e->rho), 0};
  // ρ = Δ²/(2σ²)
  const auto gaussian = [](double sensitivity, double sigma) {
    Twofold doubled = Twofold::square(sigma);
    doubled.high *= 2, doubled.low *= 2;
    return Price{quotient_steps(Twofold::square(sensitivity), doubled), 0};
  };
  if (const auto* e = event.get_if<GaussianEvent>()) {
    const double factor = e->basis == Basis::contribution ? contribution_factor(relation) : 1;
    return gaussian(factor * e->sensitivity, e->sigma);
  }
  if (const auto* e = event.get_if<DiscreteGaussianEvent>())
    return gaussian(e->sensitivity, e->sigma);
  const Concentrated c = concentrated_cost(event, relation);
  return {steps_up(c.rho), c.delta};
}

Price gdp_price(const Event& event, Relation relation) {
  if (const auto pair = pure_parameters(event, relation); pair && pair->delta > 0) {
    const double mu = pure_to_mu(pair->epsilon);
    return {multiply_up(mu, mu), pair->delta};
  }
  return {gdp_squared(event, relation), 0};
}

// A number that ran over would be 0 again, and the gauge would cover everything. As many as the
// functions of a server take (ledger/backend/postgres_functions.cpp).
void count_unbounded(std::uint64_t& all, std::uint64_t more) {
  constexpr std::uint64_t kMost = 9'999'999'999'999'999;
  if (more > kMost || all > kMost - more)
    throw AccountingError("the releases of a budget are more than 10^16 repetitions together",
                          "state many small releases as one");
  all += more;
}

// The many zeros at the end of a sum are counted, not written.
std::string packed(const ExactSum& sum) {
  std::string hex = sum.hex();
  const std::size_t kept = hex.find_last_not_of('0') + 1;
  if (kept == 0) return "0";
  return fmt::format("{}z{}", hex.substr(0, kept), hex.size() - kept);
}

ExactSum unpacked(const std::string& text) {
  const std::size_t z = text.find('z');
  if (z == std::string::npos) return ExactSum::from_hex(text);
  const std::string zeros = text.substr(z + 1);
  if (zeros.empty() || zeros.size() > 3 ||
      zeros.find_first_not_of("0123456789") != std::string::npos)
    throw DataError("a stored spend has a damaged number of zeros");
  return ExactSum::from_hex(text.substr(0, z) +
                            std::string(static_cast<std::size_t>(std::stoi(zeros)), '0'));
}

}  // namespace

AdaptiveBudget::AdaptiveBudget(const BudgetCap& cap) : cap_(cap) {
  if ((cap.epsilon > 0) == (cap.rho > 0))
    throw InvalidArgument("a cap is either epsilon (with delta) or rho",
                          "state one of them, above 0");
  if (cap.rho > 0) {
    (void)Rho(cap.rho);
    if (cap.delta != 0) (void)Delta(cap.delta);
    if (cap.accountant != Accountant::zcdp)
      throw InvalidArgument("a cap in rho needs the zcdp accountant");
    cap_.own_delta = 0;  // a cap in ρ promises no failure probability at all
    gauges_.push_back({Kind::zcdp, cap_steps(cap.rho), 0, 1});
    return;
  }
  (void)Epsilon(cap.epsilon);
  gauges_.push_back({Kind::pure, cap_steps(cap.epsilon), 0, 0});
  if (cap.delta == 0) {
    if (cap.own_delta != 0)
      throw InvalidArgument("nothing of delta = 0 can be set aside for events with a delta");
    return;
  }
  (void)Delta(cap.delta);
  if (!(cap.own_delta >= 0 && cap.own_delta < cap.delta)) {
    throw InvalidArgument(fmt::format("own_delta is {}; it must be 0 or more and below delta {}",
                                      cap.own_delta, cap.delta));
  }
  const double rest = cap.own_delta == 0 ? cap.delta : next_down(cap.delta - cap.own_delta);
  switch (cap.accountant) {
    case Accountant::zcdp:
      gauges_.push_back(
          {Kind::zcdp,
           std::max(0.0, std::floor(zcdp_rho(Epsilon(cap.epsilon), Delta(rest)) * kSteps) - 1), 0,
           1});
      break;
    case Accountant::gdp: {
      const double mu = gaussian_mu(Epsilon(cap.epsilon), Delta(rest));
      gauges_.push_back({Kind::gdp, next_down(mu * mu), 0, 1});
      break;
    }
    case Accountant::rdp: add_orders(rest); break;
    default:
      throw Unsupported(fmt::format("{} does not account for releases that depend on earlier ones",
                                    name(cap.accountant)),
                        "use rdp, zcdp or gdp; pld needs a plan of releases declared in advance");
  }
}

void AdaptiveBudget::add_orders(double delta) {
  constexpr double kMain = 0.8;
  constexpr double kOthers[] = {0.25, 0.5, 2, 4, 8, 16, 32, 64};
  const auto add = [&](double order, double share) {
    try {
      const Filter f =
          Filter::renyi_for(Epsilon(cap_.epsilon), part(delta, share), order, cap_.relation);
      gauges_.push_back({Kind::renyi, f.budget(), order, share});
    } catch (const InvalidArgument&) {  // so small an order has no room for this δ
    }
  };
  const double rho = zcdp_rho(Epsilon(cap_.epsilon), part(delta, kMain));
  const double main = zcdp_epsilon_tight(rho, part(delta, kMain)).order;
  add(main, kMain);
  for (double factor : kOthers)
    add(1 + (main - 1) * factor, (1 - kMain) / static_cast<double>(std::size(kOthers)));
}

Spend AdaptiveBudget::nothing() const {
  Spend s;
  s.sums_.resize(gauges_.size());
  return s;
}

Spend AdaptiveBudget::cost(const Event& event) const {
  Spend total = nothing();
  for (const Run& run : run_lengths(event)) {
    std::optional<RenyiCurve> curve;
    std::string refusal;
    bool expressed = false;
    for (std::size_t k = 0; k < gauges_.size(); ++k) {
      const Gauge& g = gauges_[k];
      Price price{kInfinity, 0};
      try {
        switch (g.kind) {
          case Kind::pure: price = pure_price(run.event, cap_.relation); break;
          case Kind::zcdp: price = zcdp_price(run.event, cap_.relation); break;
          case Kind::gdp: price = gdp_price(run.event, cap_.relation); break;
          case Kind::renyi:
            if (!curve) curve.emplace(run.event, cap_.relation);
            if (g.order <= curve->largest_order()) price = {(*curve)(g.order), curve->delta()};
            break;
        }
      } catch (const Unsupported& e) {
        refusal = e.what();
      }
      Spend::Sum& sum = total.sums_[k];
      if (std::isfinite(price.amount)) {
        expressed = true;
        sum.amount.add(price.amount, run.count);
        sum.delta.add(price.delta, run.count);
      } else {
        count_unbounded(sum.unbounded, run.count);
      }
    }
    if (!expressed) {
      throw Unsupported(fmt::format("the {} accountant of this budget cannot express {} events{}",
                                    name(cap_.accountant), run.event.name(),
                                    refusal.empty() ? "" : " (" + refusal + ")"),
                        "rdp expresses the most kinds of events");
    }
  }
  price_at_a_delta(event, total);
  return total;
}

// What is not pure can still be added up as (ε, δ) with a small δ, so that one Gaussian release
// does not shut the gauge of a data set that is otherwise charged in pure ε.
void AdaptiveBudget::price_at_a_delta(const Event& event, Spend& total) const {
  constexpr double kSlices = 32;
  Spend::Sum& sum = total.sums_[0];
  if (gauges_[0].kind != Kind::pure || sum.unbounded == 0 || cap_.own_delta == 0) return;
  const double slice = own_limit() / kSlices;
  double price = kInfinity;
  try {
    price = steps_up(event_epsilon(event, cap_.relation, slice));
  } catch (const Unsupported&) {
  }
  if (!std::isfinite(price)) return;
  sum = {};
  sum.amount.add(price);
  sum.delta.add(slice);
}

// Half of own_delta is for the sum of (ε, δ), half for the other gauges, whose failures are the
// same events.
double AdaptiveBudget::own_limit() const { return cap_.own_delta / 2; }

bool AdaptiveBudget::covers(const Gauge& g, const Spend::Sum& s) const {
  return s.unbounded == 0 && s.amount <= ExactSum(g.budget) && s.delta <= ExactSum(own_limit());
}

bool AdaptiveBudget::covers(const Spend& spend) const {
  for (std::size_t k = 0; k < gauges_.size(); ++k) {
    if (covers(gauges_[k], spend.sums_[k])) return true;
  }
  return false;
}

double AdaptiveBudget::epsilon(const Gauge& g, const Spend::Sum& s) const {
  if (s.unbounded != 0 || s.delta > ExactSum(own_limit())) return kInfinity;
  const double amount = s.amount.upper();
  if (!std::isfinite(amount)) return kInfinity;  // larger than any double
  if (amount == 0) return 0;
  // The nearest double is what a person wrote for a whole number of steps.
  if (g.kind == Kind::pure) return amount < 0x1p53 ? amount / kSteps : next_up(amount / kSteps);
  if (cap_.delta == 0)
    throw InvalidArgument("a cap in rho states an epsilon only at a delta",
                          "create the data set with `rho` R `delta` D");
  const double rest = cap_.own_delta == 0 ? cap_.delta : next_down(cap_.delta - cap_.own_delta);
  const Delta delta = part(rest, g.share);
  switch (g.kind) {
    case Kind::zcdp: return zcdp_epsilon_tight(next_up(amount / kSteps), delta).value;
    case Kind::gdp: return gaussian_epsilon_upper(next_up(std::sqrt(amount)), delta);
    default: return renyi_epsilon(g.order, amount, delta);
  }
}

double AdaptiveBudget::epsilon(const Spend& spend) const {
  double best = kInfinity;
  for (std::size_t k = 0; k < gauges_.size(); ++k)
    best = std::min(best, epsilon(gauges_[k], spend.sums_[k]));
  // Rounding of a conversion must not contradict the exact comparison, either way.
  if (cap_.epsilon == 0) return best;
  return covers(spend) ? std::min(best, cap_.epsilon) : std::max(best, next_up(cap_.epsilon));
}

double AdaptiveBudget::rho(const Spend& spend) const {
  for (std::size_t k = 0; k < gauges_.size(); ++k) {
    const Spend::Sum& s = spend.sums_[k];
    if (gauges_[k].kind == Kind::zcdp)
      return s.unbounded == 0 ? s.amount.upper() / kSteps : kInfinity;
  }
  return kInfinity;
}

double AdaptiveBudget::own_delta(const Spend& spend) const {
  for (std::size_t k = 0; k < gauges_.size(); ++k) {
    if (covers(gauges_[k], spend.sums_[k])) return spend.sums_[k].delta.upper();
  }
  return spend.sums_.front().delta.upper();
}

bool AdaptiveBudget::is_pure(const Spend& spend) const {
  const Spend::Sum& sum = spend.sums_.front();
  return gauges_.front().kind == Kind::pure && sum.unbounded == 0 && sum.delta == ExactSum();
}

double AdaptiveBudget::least_own_delta(const Spend& spend) const {
  double least = kInfinity;
  for (const Spend::Sum& sum : spend.sums_) {
    if (sum.unbounded == 0) least = std::min(least, sum.delta.upper());
  }
  return std::isfinite(least) ? least : 0;  // then it is not delta that fails
}

void Spend::add(const Spend& other) {
  std::vector<Sum> sums = sums_;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k].amount.add(other.sums_[k].amount);
    sums[k].delta.add(other.sums_[k].delta);
    count_unbounded(sums[k].unbounded, other.sums_[k].unbounded);
  }
  sums_ = std::move(sums);
}

void Spend::subtract(const Spend& other) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (other.sums_[k].unbounded > sums_[k].unbounded)
      throw DataError("more is taken from a spend than was added to it");
    sums_[k].amount.subtract(other.sums_[k].amount);
    sums_[k].delta.subtract(other.sums_[k].delta);
    sums_[k].unbounded -= other.sums_[k].unbounded;
  }
}

nlohmann::ordered_json Spend::to_json() const {
  auto json = nlohmann::ordered_json::array();
  for (const Sum& s : sums_) json.push_back({packed(s.amount), packed(s.delta), s.unbounded});
  return json;
}

Spend Spend::from_json(const nlohmann::ordered_json& json, const AdaptiveBudget& budget) {
  try {
    Spend s = budget.nothing();
    if (json.size() != s.sums_.size())
      throw DataError("a stored spend has another number of gauges than its budget");
    for (std::size_t k = 0; k < s.sums_.size(); ++k) {
      s.sums_[k].amount = unpacked(json.at(k).at(0).get<std::string>());
      s.sums_[k].delta = unpacked(json.at(k).at(1).get<std::string>());
      s.sums_[k].unbounded = json_count(json.at(k).at(2), "a stored spend's count",
                                        std::numeric_limits<std::uint64_t>::max());
    }
    return s;
  } catch (const nlohmann::json::exception&) {
    throw DataError("a stored spend lacks a field or has one of the wrong type");
  }
}

}  // namespace sotto
