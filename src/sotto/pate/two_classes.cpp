#include "sotto/pate/two_classes.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numeric/outward.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate {
namespace {

constexpr std::uint64_t kMostLeads = 16384, kMostLeadsAndMargins = 1024;
constexpr double kLeastSigma = 0x1p-10;  // a thousand steps of the lattice
constexpr double kTailSlack = 1e-13;     // of the logarithm of a tail, with 16 roundings of it
constexpr double kSmallLoss = 1e-4;      // below it a loss is bounded by its square
constexpr double kLargeExponent = 500;
constexpr double kUnderflow = 1e-300;  // more than all that underflows
constexpr double kFirstOrder = .005;   // above 1
constexpr double kOrderStep = 1.12;    // of α − 1, between orders that are looked at
constexpr double kCellSlack = 2e-3;    // what a cell of leads may say too much
constexpr double kWorthIt = .99;       // of what noisy counts cost
constexpr double kSmallestDelta = 40;  // −ln δ that omega is wide enough for

// Logarithms of the probability that the class behind wins, and that it loses, from both sides.
struct Coin {
  double win_low, win_high, lose_low, lose_high;
};

// Of a class that is `behind` votes behind; a tie may go either way.
Coin coin_at(const LabelOptions& o, double behind) {
  if (behind < 0) {
    const Coin other = coin_at(o, -behind);
    return {other.lose_low, other.lose_high, other.win_low, other.win_high};
  }
  // log_tail() is a bound from above that is at most two steps wide.
  const double above = log_tail(o, behind), below = log_tail(o, behind + 3 * kVoteStep);
  const double high = above + kTailSlack + 16 * kUlp * std::abs(above);
  const double low = below - kTailSlack - 16 * kUlp * std::abs(below);
  return {low, high, widen_down(log_one_minus_exp(high), 8 * kUlp),
          std::min(0.0, widen_up(log_one_minus_exp(low), 8 * kUlp))};
}

// ln φ(d) from above, φ(d) = e^{rd} − 1 + r(e^{−d} − 1) with r = α − 1; it grows with |d|.
double log_phi(double loss, double rest) {
  if (std::max(rest * loss, -loss) > kLargeExponent)
    return loss > 0 ? rest * loss : std::log(rest) - loss;
  const double square =
      loss * loss / 2 *
      (rest * rest * std::exp(std::max(rest * loss, 0.0)) + rest * std::exp(std::max(-loss, 0.0)));
  if (std::abs(loss) * std::max(1.0, rest) < kSmallLoss) return std::log(square);
  const double first = std::expm1(rest * loss), second = rest * std::expm1(-loss);
  return std::log(
      std::min(square, first + second + 8 * kUlp * (std::abs(first) + std::abs(second))));
}

// ln(1 + Σ p·φ(d))/r over the two sides of a coin.
double divergence(double log_win, double win_loss, double log_lose, double lose_loss, double rest) {
  const auto term = [&](double log_p, double loss) {
    const double log_f = log_phi(loss, rest);
    if (log_f == -kInfinity) return log_f;
    return log_p + log_f + 1e-13 + 8 * kUlp * (std::abs(log_p) + std::abs(log_f));
  };
  const double win = term(log_win, win_loss), lose = term(log_lose, lose_loss);
  const double high = std::max(win, lose), low = std::min(win, lose);
  const double log_moment =
      high > kLargeExponent
          ? widen_up(high + std::log1p(std::exp(low - high) + std::exp(-high)), 8 * kUlp)
          : std::log1p(std::exp(win) + std::exp(lose) + kUnderflow);
  return log_moment / rest;
}

// The coins of all leads from −3 on, each computed when it is first asked for.
class Leads {
 public:
  explicit Leads(const LabelOptions& o)
      : options_(o), coins_(static_cast<std::size_t>(o.teachers) + 8) {}

  // Divergence between the leads g and g + 2 for any g from first to last, both directions.
  double between(std::int64_t first, std::int64_t last, double order) {
    const Coin a = at(first), a2 = at(first + 2), b = at(last), b2 = at(last + 2);
    const double win = b.win_high - b2.win_low, lose = a2.lose_high - a.lose_low;
    const double rest = order - 1;
    const double there = divergence(a.win_high, win, b.lose_high, -lose, rest);
    const double back = divergence(a2.win_high, -win, b2.lose_high, lose, rest);
    // Neither comparison holds for what is no number.
    return there >= 0 && back >= 0 ? widen_up(std::max(there, back), 1e-12) : kInfinity;
  }

  // At any lead, from above; says too much by kCellSlack at most.
  double largest(double order) {
    best_ = between(worst_, worst_, order);
    return std::max(best_, search(-1, static_cast<std::int64_t>(options_.teachers), order));
  }

 private:
  double search(std::int64_t first, std::int64_t last, double order) {
    const double bound = between(first, last, order);
    if (first == last && bound > best_) best_ = bound, worst_ = first;
    if (first == last || bound <= best_ * (1 + kCellSlack)) return bound;
    const std::int64_t middle = first + (last - first) / 2;
    const double left = search(first, middle, order);
    return std::max(left, search(middle + 1, last, order));
  }

  const Coin& at(std::int64_t lead) {
    std::optional<Coin>& coin = coins_[static_cast<std::size_t>(lead + 3)];
    if (!coin) coin = coin_at(options_, static_cast<double>(lead));
    return *coin;
  }

  LabelOptions options_;
  std::vector<std::optional<Coin>> coins_;
  std::int64_t worst_ = 0;  // the lead that cost most at the last order
  double best_ = 0;
};

double independent(const LabelOptions& o, double order) {
  return o.aggregator == Aggregator::lnmax ? lnmax_renyi(0, o.sigma, order)
                                           : gnmax_renyi(0, o.sigma, order);
}

// The largest of (c + s·u)/(u(1 + u)) for u from `left` to `right`, where the line passes through
// the two values, which are u·D at the orders 1 + u.
double largest_slope(double left, double at_left, double right, double at_right) {
  const double slope = (at_right - at_left) / (right - left);
  const double start = std::min(0.0, at_left - slope * left);
  const double turn =
      slope > 0 ? (-start + std::sqrt(start * start - start * slope)) / slope : right;
  const auto value = [&](double u) { return (at_left + slope * (u - left)) / (u * (1 + u)); };
  return std::max({value(left), value(right), value(std::clamp(turn, left, right))});
}

}  // namespace

double log_tail(const LabelOptions& o, double gap) {
  return o.aggregator == Aggregator::lnmax ? log_tail_laplace(gap, o.sigma, kVoteStep)
                                           : log_tail_gaussian(gap, o.sigma, kVoteStep);
}

bool has_exact_costs(const LabelOptions& o) {
  return o.classes == 2 && o.sigma >= kLeastSigma &&
         o.teachers <= (has_threshold(o.aggregator) ? kMostLeadsAndMargins : kMostLeads);
}

std::vector<double> two_class_renyi(const LabelOptions& o, double order) {
  Leads leads(o);
  const double any_votes = independent(o, order);
  std::vector<double> costs;
  double before = leads.between(-2, -2, order);
  double here = leads.between(-1, -1, order);
  for (std::int64_t lead = 0; lead <= static_cast<std::int64_t>(o.teachers) + 1; ++lead) {
    const double after = leads.between(lead, lead, order);
    costs.push_back(std::min(any_votes, std::max(before, after)));
    before = here, here = after;
  }
  return costs;
}

std::optional<AnswerLaw> answer_law(const LabelOptions& o) {
  if (!has_exact_costs(o) || o.aggregator == Aggregator::lnmax) return std::nullopt;
  const double whole = 1 / (o.sigma * o.sigma);
  const double answers = static_cast<double>(o.answers == 0 ? o.queries : o.answers);
  // Twice the order that is best for ε at the smallest δ anybody asks for.
  const double last = 2 * std::sqrt(kSmallestDelta / (whole * answers));
  Leads leads(o);
  // D_α grows with α: below the first order it is at most what it is there.
  double left = std::min(kFirstOrder, last), rho = leads.largest(1 + left);
  double at_left = left * rho;
  while (left < last && rho <= kWorthIt * whole) {
    const double right = std::min(last, left * kOrderStep);
    const double at_right = right * leads.largest(1 + right);
    rho = std::max(rho, largest_slope(left, at_left, right, at_right));
    left = right, at_left = at_right;
  }
  if (!(rho <= kWorthIt * whole)) return std::nullopt;
  return AnswerLaw{widen_up(rho, 1e-9), 1 + last};
}

}  // namespace sotto::pate
