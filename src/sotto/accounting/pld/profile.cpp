#include "sotto/accounting/pld/profile.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/pld/detail/few_losses.hpp"
#include "sotto/accounting/pld/detail/two_point.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

// Over so wide a loss a fine grid takes long and says nothing that matters. Mixtures, whose cells
// are the slowest, are not computed at all.
constexpr double kMeaningless = 1e5;
constexpr double kRough = 3e-2;
constexpr double kFarAbove = 20;    // above ε, so that losses count whole but for e^{−20}
constexpr double kMixtureCell = 8;  // price of a cell of a mixture, whose loss has no inverse

const GaussianPiece* plain_gaussian(const LossLaw& law) {
  if (law.p_infinite > 0 || !law.atoms.empty() || law.pieces.size() != 1 || law.fold ||
      law.highest < kInfinity)
    return nullptr;
  const auto* g = std::get_if<GaussianPiece>(&law.pieces.front());
  return g && g->gamma == 1 && g->weight == 1 ? g : nullptr;
}

// Gaussians of one kind added up: μ² and what each law leaves uncertain.
class GaussianSum {
 public:
  void add(const LossLaw& law, double count) {
    const double mu = plain_gaussian(law)->mu;
    square_ += count * mu * mu;
    shift_ += count * law.shift;
    slack_ += count * law.slack;
    charged_ += count * law.charged;
  }
  LossLaw law() const {
    LossLaw law;
    law.symmetric = true;
    law.pieces = {GaussianPiece{std::sqrt(square_) * (1 + 4 * kUlp), 1, 1}};
    // Summing the squares and the root err by a few units in the last place; the loss moves by at
    // most that fraction.
    law.shift = shift_ + 64 * kUlp * (square_ + 40 * std::sqrt(square_));
    law.slack = slack_;
    law.charged = charged_;
    return law;
  }
  bool empty() const { return square_ == 0; }

 private:
  double square_ = 0, shift_ = 0, slack_ = 0, charged_ = 0;
};

double lowest_loss(const LossLaw& law, bool highest) {
  double x = highest ? -kInfinity : kInfinity;
  const auto include = [&](double l) {
    l = std::clamp(l, law.lowest, law.highest);
    x = highest ? std::max(x, l) : std::min(x, l);
  };
  for (const LossAtom& a : law.atoms) include(a.loss);
  for (const LossPiece& piece : law.pieces) {
    std::visit([&](const auto& p) { include(p.at(highest ? p.high(1e-12) : p.low(1e-12)).loss); },
               piece);
  }
  return std::isfinite(x) ? x : 0;
}

// The largest loss of one use in either direction that counts as one; ∞ when it has no end.
double largest_loss(const LossLaw& law) {
  double x = 0;
  for (const LossAtom& a : law.atoms) x = std::max(x, std::abs(a.loss));
  for (const LossPiece& piece : law.pieces) {
    const auto* e = std::get_if<ExponentialPiece>(&piece);
    x = std::max(x,
                 e ? std::max(sampled_loss(e->range, e->gamma), -sampled_loss(-e->range, e->gamma))
                   : kInfinity);
  }
  return std::min(x, std::max(law.highest, -law.lowest));
}

bool multiple_of(double loss, double base) {
  const double m = loss / base;
  return std::abs(m - std::round(m)) < 1e-11 * std::max(1.0, std::abs(m));
}

}  // namespace

PrivacyProfile::PrivacyProfile(std::vector<LawRun> runs) : runs_(std::move(runs)) {
  std::erase_if(runs_, [](const LawRun& r) { return r.count == 0; });
  merge_gaussians();
  for (LawRun& run : runs_) {
    charge_missing_mass(run.upper);
    symmetric_ = symmetric_ && run.upper.symmetric;
    attained_ = attained_ && run.attained;
    uses_ += static_cast<double>(run.count);
    range_ = std::max(range_, lowest_loss(run.upper, true) - lowest_loss(run.upper, false));
    for (const LossPiece& piece : run.upper.pieces)
      if (std::holds_alternative<MixturePiece>(piece)) cell_price_ = kMixtureCell;
  }
  find_anchor();
  double kept = 0;  // ln of the mass that is not lost
  for (const LawRun& run : runs_) {
    const double t = static_cast<double>(run.count);
    largest_total_ += t * (largest_loss(run.upper) + run.upper.shift);
    const Outside outside = mass_outside(run.upper, run.upper.lowest, run.upper.highest);
    const double lost =
        run.upper.charged + 1.0000000001 * std::max(outside.above.p, outside.below.q) +
        (run.upper.symmetric ? run.upper.p_infinite
                             : std::max(run.upper.p_infinite, run.upper.q_infinite));
    kept += t * std::log1p(-std::min(1.0, lost));
  }
  lost_ = -std::expm1(kept) * (1 + 1e-12);
  largest_total_ = widen_up(largest_total_, 1e-12);
}

// k Gaussian pairs compose exactly to one with μ² = Σμ_i².
void PrivacyProfile::merge_gaussians() {
  GaussianSum upper, lower;
  bool attained = true;
  std::vector<LawRun> rest;
  for (LawRun& run : runs_) {
    const LossLaw* instance = run.attained ? &run.upper : run.lower ? &*run.lower : nullptr;
    if (!plain_gaussian(run.upper) || !instance || !plain_gaussian(*instance)) {
      rest.push_back(std::move(run));
      continue;
    }
    const auto count = static_cast<double>(run.count);
    upper.add(run.upper, count);
    lower.add(*instance, count);
    attained = attained && run.attained;
  }
  if (!upper.empty()) {
    LawRun merged;
    merged.upper = upper.law();
    merged.attained = attained;
    if (!attained) merged.lower = lower.law();
    rest.push_back(std::move(merged));
  }
  runs_ = std::move(rest);
}

void PrivacyProfile::find_anchor() {
  const LawRun* main = nullptr;
  for (const LawRun& run : runs_) {
    if (!run.upper.atoms.empty() && (!main || run.count > main->count)) main = &run;
  }
  if (main) {
    double smallest = kInfinity;
    for (const LossAtom& a : main->upper.atoms)
      if (std::abs(a.loss) > 1e-12) smallest = std::min(smallest, std::abs(a.loss));
    if (std::isfinite(smallest)) anchor_ = smallest;
  }
  for (const LawRun& run : runs_) {
    const bool aligned =
        anchor_ > 0 && run.upper.pieces.empty() && !run.upper.fold &&
        std::all_of(run.upper.atoms.begin(), run.upper.atoms.end(), [&](const LossAtom& a) {
          return multiple_of(a.loss, anchor_) || a.loss > run.upper.highest ||
                 a.loss < run.upper.lowest;
        });
    if (!aligned) off_grid_ += static_cast<double>(run.count);
  }
}

double PrivacyProfile::mass_beyond(double end) const {
  double sum = 0;
  for (const LawRun& run : runs_) {
    const auto [above, below] = mass_outside(run.upper, -end, end);
    sum += static_cast<double>(run.count) * (above.p + above.q + below.p + below.q);
  }
  return sum;
}

PrivacyProfile PrivacyProfile::bounded(double end) const {
  std::vector<LawRun> runs = runs_;
  for (LawRun& run : runs) {
    run.upper = bounded_law(std::move(run.upper), end);
    if (run.lower) run.lower = bounded_law(std::move(*run.lower), end);
    if (run.attained_at)
      run.attained_at = [law = std::move(run.attained_at), end](double theta) {
        return bounded_law(law(theta), end);
      };
  }
  return PrivacyProfile(std::move(runs));
}

// Losses far above ε count whole wherever they are: it is enough to know how likely they are. What
// a direction is charged for those of the other, e^{−end} times their mass there, is next to
// nothing. Nothing where the range would not be much narrower.
std::optional<PrivacyProfile::Bounded> PrivacyProfile::without_far_losses(
    const Question& question, Direction direction) const {
  constexpr double kNarrower = 0.25;
  if (runs_.front().upper.highest < kInfinity) return std::nullopt;
  const auto far = [](double epsilon) { return kFarAbove + 1.5 * epsilon; };
  double end = question.for_epsilon ? 1.2 * kFarAbove : far(question.value);
  for (;; end *= 2) {
    if (!(2 * end < kNarrower * range_)) return std::nullopt;
    if (!question.for_epsilon) break;
    const PrivacyProfile near = bounded(end);
    if (near.lost_ < question.value && far(near.setting_for(question, direction).about) < end)
      break;
  }
  // There may be nothing long before.
  const double beyond = mass_beyond(end),
               most = beyond + 1e-3 * question.tolerance *
                                   std::max(beyond, question.for_epsilon ? question.value : 0);
  double low = 0, high = end;
  for (int i = 0; i < 40 && high - low > 1e-3 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (mass_beyond(middle) <= most ? high : low) = middle;
  }
  return Bounded{bounded(high), end};
}

// Tails of a fraction of δ are charged instead of computed. δ is the question or is estimated. A
// fraction f of δ costs f/θ in ε, and θε is seldom below 5.
PrivacyProfile::Setting PrivacyProfile::setting_for(const Question& question,
                                                    Direction direction) const {
  Setting s;
  const auto estimate = [&](double delta) {
    s.tail = std::clamp(0.01 * question.tolerance * delta / uses_, 1e-290, 1e-12);
    s.moments = {};
    for (const LawRun& run : runs_) s.moments.add(loss_nodes(run.upper, s.tail), run.count);
    s.candidates = candidates_for(question, s.moments, direction);
  };
  estimate(question.for_epsilon ? question.value : 1e-30);
  if (!question.for_epsilon) estimate(std::exp(s.candidates.front().saddle.log_delta));
  s.about = question.for_epsilon ? s.candidates.front().saddle.epsilon : question.value;
  return s;
}

CertifiedInterval PrivacyProfile::answer(const Question& question, Direction direction) const {
  if (runs_.empty()) return {};
  if (uses_ == 1) return exact(question, direction);
  CertifiedInterval known{question.for_epsilon ? kInfinity : 1, 0};
  // A lattice holds its losses exactly.
  if (const auto few = off_grid_ > 0 ? FewLosses::of(runs_) : std::nullopt) {
    const auto worse = [&](const auto& bound) {
      return std::max(direction == Direction::addition ? 0 : bound(false),
                      direction == Direction::removal ? 0 : bound(true));
    };
    try {
      known = solved(
          question,
          [&](double e) { return worse([&](bool reverse) { return few->upper(e, reverse); }); },
          [&](double e) { return worse([&](bool reverse) { return few->lower(e, reverse); }); });
    } catch (const AccountingError&) {
      // What no ε holds for by these bounds is asked of a grid.
    }
    if (question.wanted == Wanted::upper ||
        known.upper - known.lower <= question.tolerance * known.upper)
      return known;
  }
  if (const auto near = without_far_losses(question, direction)) {
    try {
      const CertifiedInterval found = near->profile.answer(question, direction);
      known = {std::min(known.upper, found.upper), std::max(known.lower, found.lower)};
      work_ = near->profile.work_;
      // An ε next to the end, or a δ of which nothing was seen from below, is asked of all losses.
      const bool settled = question.for_epsilon
                               ? known.upper + 0.75 * kFarAbove <= near->end
                               : question.wanted == Wanted::upper || 2 * known.lower > known.upper;
      if (settled) return known;
    } catch (const AccountingError&) {
      // Then they are needed.
    }
  }
  const auto [moments, candidates, tail, about] = setting_for(question, direction);
  if (about > kMeaningless) {
    if (cell_price_ > 1)
      throw AccountingError(
          "the privacy loss is beyond 100000, where no distribution of it is computed",
          "this protects nothing; more noise or fewer steps are needed");
    if (question.tolerance < kRough) {
      Question rough = question;
      rough.tolerance = kRough;
      return answer(rough, direction);
    }
  }
  CertifiedInterval best;
  Refined first;
  for (const Candidate& c : candidates) {
    if (&c == &candidates.front()) {
      first = refine(question, c, moments, tail);
      best = first.interval;
      continue;
    }
    const double theta = candidates.front().saddle.theta;
    // No grid was wide enough for the first: nothing to compare with.
    if (first.h > 0 &&
        (dominated(question, first.grids, first.h, best.upper, c.saddle, c.reverse) ||
         dominated_on_coarse_grid(question, first.h, tail, theta, best.upper, c)))
      continue;
    const CertifiedInterval other = refine(question, c, moments, tail).interval;
    best = {std::max(best.upper, other.upper), std::max(best.lower, other.lower)};
  }
  best = {std::min(best.upper, known.upper), std::max(best.lower, known.lower)};
  // Little work is done for a coarse tolerance; where that saw next to nothing, some more is.
  if (question.for_epsilon && question.tolerance >= kCoarseTolerance && about <= kMeaningless &&
      best.upper > std::max(2 * about, 1e-3)) {
    Question finer = question;
    finer.tolerance = kCoarseTolerance / 2;
    try {
      const CertifiedInterval more = answer(finer, direction);
      best = {std::min(best.upper, more.upper), std::max(best.lower, more.lower)};
    } catch (const AccountingError&) {
      // Then what is known stays.
    }
  }
  // No composition loses more than its largest losses added up.
  if (question.for_epsilon && lost_ <= question.value)
    best.upper = std::min(best.upper, largest_total_);
  if (!question.for_epsilon && question.value >= largest_total_)
    best.upper = std::min(best.upper, widen_up(lost_, 1e-12));
  if (question.for_epsilon && !std::isfinite(best.upper) && runs_.size() > 1)
    best.upper = one_by_one(question, direction);
  if (question.for_epsilon && !std::isfinite(best.upper)) {
    throw AccountingError(
        "the privacy loss cannot be bounded: no finite epsilon holds at this delta",
        "more noise, fewer steps or a larger delta are needed");
  }
  return best;
}

// Where no grid holds all runs together (very unequal ones at a tiny δ): each alone, with its share
// of δ, and the sum of what they lose.
double PrivacyProfile::one_by_one(const Question& question, Direction direction) const {
  const double share = widen_down(question.value / static_cast<double>(runs_.size()), 2 * kUlp);
  double sum = 0;
  for (const LawRun& run : runs_)
    sum = add_up(
        sum,
        PrivacyProfile({run}).epsilon(share, question.tolerance, direction, Wanted::upper).upper);
  return sum;
}

// One use of one mechanism: the hockey-stick divergence in closed form, no grid.
CertifiedInterval PrivacyProfile::exact(const Question& question, Direction direction) const {
  const LawRun& run = runs_.front();
  constexpr double kError = 1e-12;
  const auto value = [&](const LossLaw& law, double epsilon) {
    const double forward = direction == Direction::addition ? 0 : law.hockey_stick(epsilon);
    const double backward = direction == Direction::removal ? 0 : law.reverse_hockey_stick(epsilon);
    return std::max(forward, backward);
  };
  const auto upper = [&](double epsilon) {
    return std::min(1.0, value(run.upper, epsilon - run.upper.shift) * std::exp(run.upper.slack) *
                             (1 + kError));
  };
  const LossLaw* low_law = run.attained || run.pointwise ? &run.upper
                           : run.lower                   ? &*run.lower
                                                         : nullptr;
  const auto lower = [&](double epsilon) {
    // Losses are quotients and products, each right to a few roundings.
    const double rounding = 8 * kUlp * (1 + epsilon);
    const double v = value(*low_law, epsilon + low_law->shift + rounding) - low_law->charged;
    return std::max(0.0, v) * std::exp(-low_law->slack) * (1 - kError);
  };
  return solved(question, upper, low_law ? Curve(lower) : nullptr);
}

// From bounds of δ(ε) for every ε.
CertifiedInterval PrivacyProfile::solved(const Question& question, const Curve& upper,
                                         const Curve& lower) {
  if (!question.for_epsilon) return {upper(question.value), lower ? lower(question.value) : 0};
  const auto solve = [&](const Curve& curve) -> Bracket {
    if (curve(0) <= question.value) return {0, 0};
    double a = 0, b = 1;
    while (curve(b) > question.value) {
      a = b;
      if ((b *= 2) > 1e7) {
        throw AccountingError(
            "the privacy loss cannot be bounded: no finite epsilon holds at this delta",
            "more noise or a larger delta are needed");
      }
    }
    return narrow([&](double x) { return curve(x) - question.value; }, a, b, 1e-13);
  };
  const bool two_sided = lower && question.wanted == Wanted::both;
  return {solve(upper).high, two_sided ? solve(lower).low : 0};
}

// Many different two-valued losses become one law. Losses so rare that all of them together are a
// millionth of δ are charged; what is left may be much narrower.
CertifiedInterval PrivacyProfile::trimmed_answer(const Question& question,
                                                 Direction direction) const {
  const double delta = question.for_epsilon ? question.value : 1e-40;
  const double tail = std::max(1e-290, 1e-7 * delta / std::max(1.0, uses_));
  std::vector<LawRun> runs = merge_two_point(runs_, delta, question.tolerance);
  bool any = runs.size() < runs_.size();
  for (LawRun& run : runs) {
    any = trim(run.upper, tail) || any;
    if (run.lower) trim(*run.lower, tail);
  }
  if (!any || uses_ == 1) return answer(question, direction);
  const PrivacyProfile trimmed(std::move(runs));
  const CertifiedInterval result = trimmed.answer(question, direction);
  work_ = trimmed.work_;
  return result;
}

CertifiedInterval PrivacyProfile::epsilon(double delta, double tolerance, Direction direction,
                                          Wanted wanted) const {
  return trimmed_answer({true, delta, tolerance, wanted}, direction);
}
CertifiedInterval PrivacyProfile::delta(double epsilon, double tolerance, Direction direction,
                                        Wanted wanted) const {
  return trimmed_answer({false, epsilon, tolerance, wanted}, direction);
}

}  // namespace sotto
