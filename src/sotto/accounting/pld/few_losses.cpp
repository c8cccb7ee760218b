#include "sotto/accounting/pld/detail/few_losses.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kMostTotals = 4096;
constexpr double kLargestTotal = 4e6;  // of the losses added up
constexpr std::size_t kMostLaws = 8;   // different ones
constexpr double kMostSlack = 1e-6;
constexpr double kUseError = 2e-13;     // of a mass of one use
constexpr double kUnderflown = 1e-300;  // all masses below the smallest double together

double times_log(double count, double log) { return count == 0 ? 0 : count * log; }

}  // namespace

std::optional<FewLosses> FewLosses::of(const std::vector<LawRun>& runs) {
  if (runs.size() > kMostLaws) return std::nullopt;
  FewLosses few;
  for (const LawRun& run : runs)
    if (!few.add(run)) return std::nullopt;
  if (!(few.slack_ < kMostSlack)) return std::nullopt;  // a grid is closer
  return few;
}

bool FewLosses::add(const LawRun& run) {
  const LossLaw& law = run.upper;
  const auto uses = static_cast<double>(run.count);
  const std::size_t m = law.atoms.size();
  if (!run.attained || law.fold || law.highest < kInfinity) return false;
  shift_ += uses * law.shift;
  slack_ += uses * (law.slack + kUseError);
  const auto keep = [&](Lost& log, double charged) {
    log.p += uses * std::log1p(-std::min(1.0, law.p_infinite + charged));
    log.q += uses * std::log1p(-std::min(1.0, law.q_infinite + charged));
  };
  keep(kept_log_, 0);
  keep(finite_log_, law.charged);
  if (m == 0) {
    if (gaussian_ || run.count != 1 || law.pieces.size() != 1) return false;
    const auto* gaussian = std::get_if<GaussianPiece>(&law.pieces.front());
    if (!gaussian || gaussian->gamma != 1 || gaussian->weight != 1) return false;
    gaussian_ = *gaussian;
    return true;
  }
  const double made = m == 1 ? 1 : m == 2 ? uses + 1 : (uses + 1) * (uses + 2) / 2;
  if (!law.pieces.empty() || m > 3 || made * static_cast<double>(totals_.size()) > kMostTotals)
    return false;
  std::vector<Total> atoms;
  double largest = 0;
  for (const LossAtom& a : law.atoms) {
    largest = std::max(largest, std::abs(a.loss));
    if (!(a.p > 0 || a.q > 0)) return false;
    const double log_p = a.p >= a.q ? std::log(a.p) : std::log(a.q) + a.loss;
    atoms.push_back({a.loss, log_p, log_p - a.loss});
  }
  if (!(uses * largest <= kLargestTotal)) return false;
  // Products and sums of a few terms, and the roundings of the losses themselves.
  shift_ += 64 * kUlp * uses * largest;
  slack_ += 64 * kUlp * uses * largest;
  if (m == 1) {  // any number of uses, up to the largest
    for (Total& t : totals_) {
      t.loss += uses * atoms[0].loss;
      t.log_p += uses * atoms[0].log_p;
      t.log_q += uses * atoms[0].log_q;
    }
    return true;
  }
  while (atoms.size() < 3) atoms.push_back({0, 0, 0});
  std::vector<Total> next;
  for (std::uint64_t i = 0; i <= run.count; ++i) {
    // Of two losses the second has all uses that the first leaves.
    for (std::uint64_t j = m < 3 ? run.count - i : 0; i + j <= run.count; ++j) {
      const double a = static_cast<double>(i), b = static_cast<double>(j), c = uses - a - b;
      const double ways =
          std::lgamma(uses + 1) - std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(c + 1);
      const auto sum = [&](double Total::*x) {
        return times_log(a, atoms[0].*x) + times_log(b, atoms[1].*x) + times_log(c, atoms[2].*x);
      };
      for (const Total& t : totals_)
        next.push_back({t.loss + sum(&Total::loss), t.log_p + ways + sum(&Total::log_p),
                        t.log_q + ways + sum(&Total::log_q)});
    }
  }
  totals_ = std::move(next);
  return true;
}

double FewLosses::stick(double epsilon, bool reverse) const {
  double sum = 0;
  for (const Total& t : totals_) {
    const double mass = std::exp(reverse ? t.log_q : t.log_p), loss = reverse ? -t.loss : t.loss;
    if (mass == 0) continue;
    if (gaussian_) {
      sum += mass * gaussian_->hockey_stick(epsilon - loss);
    } else if (loss > epsilon) {
      sum += mass * -std::expm1(epsilon - loss);
    }
  }
  return sum;
}

double FewLosses::upper(double epsilon, bool reverse) const {
  const double lost = -std::expm1(reverse ? finite_log_.q : finite_log_.p);
  return std::min(1.0, stick(epsilon - shift_, reverse) * std::exp(slack_) + widen_up(lost, 1e-12) +
                           kUnderflown);
}

double FewLosses::lower(double epsilon, bool reverse) const {
  const double lost = -std::expm1(reverse ? kept_log_.q : kept_log_.p);
  return std::max(0.0,
                  stick(epsilon + shift_, reverse) * std::exp(-slack_) + widen_down(lost, 1e-12));
}

}  // namespace sotto
