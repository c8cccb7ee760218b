#include "sotto/accounting/pld/profile.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/pld/detail/two_point.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

// The most that a question may cost. A coarse tolerance is what searches and comparisons ask for,
// thousands of times.
struct Effort {
  std::size_t transform;  // points
  double cells;           // of one use; three times as many in all rounds together
};
constexpr Effort effort_for(double tolerance) {
  if (tolerance < 5e-3) return {std::size_t{1} << 20, 1 << 21};
  if (tolerance < 2e-2) return {std::size_t{1} << 17, 1 << 18};
  return {std::size_t{1} << 15, 1 << 16};
}
constexpr double kMixtureCell = 8;  // price of a cell of a mixture, whose loss has no inverse
constexpr double kCheapCells =
    1 << 13;  // a grid this size costs next to nothing, so never use a coarser one
constexpr double kWindowWidths =
    16;  // width of a window in standard deviations of the tilted total
constexpr int kRounds = 10;
constexpr std::size_t kWorthCoarse =
    1 << 15;  // smaller transforms are not worth a look at a coarser grid

const GaussianPiece* plain_gaussian(const LossLaw& law) {
  if (law.p_infinite > 0 || !law.atoms.empty() || law.pieces.size() != 1 || law.fold)
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
  const auto include = [&](double l) { x = highest ? std::max(x, l) : std::min(x, l); };
  for (const LossAtom& a : law.atoms) include(a.loss);
  for (const LossPiece& piece : law.pieces) {
    std::visit([&](const auto& p) { include(p.at(highest ? p.high(1e-12) : p.low(1e-12)).loss); },
               piece);
  }
  return std::isfinite(x) ? x : 0;
}

// The largest loss of one use in either direction; ∞ when it has no end.
double largest_loss(const LossLaw& law) {
  double x = 0;
  for (const LossAtom& a : law.atoms) x = std::max(x, std::abs(a.loss));
  for (const LossPiece& piece : law.pieces) {
    const auto* e = std::get_if<ExponentialPiece>(&piece);
    x = std::max(x,
                 e ? std::max(sampled_loss(e->range, e->gamma), -sampled_loss(-e->range, e->gamma))
                   : kInfinity);
  }
  return x;
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
  for (const LawRun& run : runs_) {
    const double t = static_cast<double>(run.count);
    largest_total_ += t * (largest_loss(run.upper) + run.upper.shift);
    lost_ += t * (run.upper.charged + (run.upper.symmetric
                                           ? run.upper.p_infinite
                                           : std::max(run.upper.p_infinite, run.upper.q_infinite)));
  }
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
        std::all_of(run.upper.atoms.begin(), run.upper.atoms.end(),
                    [&](const LossAtom& a) { return multiple_of(a.loss, anchor_); });
    if (!aligned) off_grid_ += static_cast<double>(run.count);
  }
}

// The finest grid that the limits of work allow.
double PrivacyProfile::finest_grid(const Question& question, const Candidate& candidate) const {
  const Effort effort = effort_for(question.tolerance);
  return std::max(kWindowWidths * 1.3 * candidate.spread / static_cast<double>(effort.transform),
                  cell_price_ * range_ / effort.cells);
}

double PrivacyProfile::choose_grid(const Question& question, const Candidate& candidate) const {
  const Saddle& saddle = candidate.saddle;
  const double finest = finest_grid(question, candidate), tolerance = question.tolerance;
  if (off_grid_ == 0 && anchor_ >= finest) return anchor_;
  // Gap in ε: off_grid·(1+θ)h²/8; in ln δ: θ times that.
  const double wanted = question.for_epsilon ? tolerance * std::max(saddle.epsilon, 1e-6)
                                             : tolerance / std::max(saddle.theta, 1e-3);
  double h = std::sqrt(0.6 * wanted * 8 / (std::max(1.0, off_grid_) * (1 + saddle.theta)));
  // Merging costs more when a cell is not small beside the spread of one use.
  const double one_use = saddle.spread / std::sqrt(uses_), wide = h;
  for (int i = 0; i < 4 && one_use > 0; ++i) h = wide / std::hypot(1, h / (0.15 * one_use));
  h = std::min({h, std::max(kWindowWidths * saddle.spread, range_) / kCheapCells, 0.5});
  h = std::max(h, finest);
  if (anchor_ > h) h = anchor_ / std::ceil(anchor_ / h);
  return h;
}

CertifiedInterval PrivacyProfile::one_direction(const Question& question, const Grids& grids,
                                                double h, const Candidate& candidate) const {
  const bool reverse = candidate.reverse;
  const std::size_t largest = effort_for(question.tolerance).transform;
  const auto steps = [&](const std::vector<CellGrid>& laws, BoundSide side) {
    std::vector<StepRun> out;
    for (std::size_t g = 0; g < runs_.size(); ++g) {
      const CellGrid& grid = laws[g];
      const auto read = [&](const CellGrid& x) {
        return side == BoundSide::upper ? x.upper_step() : x.lower_step();
      };
      out.push_back({reverse && !runs_[g].upper.symmetric ? read(grid.mirrored()) : read(grid),
                     runs_[g].count});
    }
    return out;
  };
  CertifiedInterval result{question.for_epsilon ? kInfinity : 1, 0};
  // Outside the window as little as the tolerance can bear.
  WindowTarget target{question.for_epsilon ? candidate.saddle.epsilon : question.value,
                      question.for_epsilon ? std::log(question.value) : candidate.saddle.log_delta,
                      std::clamp(1e-4 * question.tolerance, 1e-11, 1e-7)};
  // A gentle tilt first; the full one when round-off is too large beside δ, less when the answer is
  // below the window.
  double theta = candidate.tilt, best_theta = theta;
  const std::vector<StepRun> upper = steps(grids.upper, BoundSide::upper);
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::optional<TiltedSum> sum;
    try {
      sum.emplace(upper, h, theta, BoundSide::upper, largest, target);
    } catch (const AccountingError&) {
      if (!std::isfinite(result.upper) || attempt == 0) throw;
      break;  // the tilt that would be better needs more room than there is
    }
    const TiltedSum& total = *sum;
    work_.transform = total.size();
    const double value =
        question.for_epsilon ? total.epsilon(question.value) : total.delta(question.value);
    if (value < result.upper) best_theta = theta;
    result.upper = std::min(result.upper, std::max(0.0, value));
    const double epsilon = question.for_epsilon ? result.upper : question.value;
    const double delta = question.for_epsilon ? question.value : result.upper;
    const double off = std::isfinite(epsilon) ? theta * std::abs(epsilon - target.epsilon) : 0;
    if (std::isfinite(epsilon)) target.epsilon = epsilon;
    if (epsilon < total.lowest() + 2 * h && epsilon > 0) {
      theta *= 0.5;
    } else if (off > 2) {
      continue;  // the window was made for another ε
    } else if (!std::isfinite(epsilon) ||
               total.round_off(epsilon) > 0.05 * question.tolerance * delta) {
      if (theta >= candidate.saddle.theta) break;
      theta = candidate.saddle.theta;
    } else {
      break;
    }
  }
  if (question.wanted == Wanted::upper) return result;
  for (const std::vector<CellGrid>& laws : grids.lower) {
    const std::vector<StepRun> lower = steps(laws, BoundSide::lower);
    for (const double tilt : {best_theta, candidate.saddle.theta}) {
      double found = 0;
      try {
        const TiltedSum total(lower, h, tilt, BoundSide::lower, largest, target);
        found = question.for_epsilon ? total.epsilon(question.value) : total.delta(question.value);
      } catch (const AccountingError&) {
        // On a grid as coarse as the loss of one use merging may leave nothing; 0 is then what is
        // known.
      }
      result.lower = std::max(result.lower, found);
      if (2 * found > result.upper) break;  // round-off did not eat it
    }
  }
  return result;
}

// Whether the direction is certainly no worse than the bound already found, by Chernoff's bound
// with the exact moments of its upper laws: δ(ε) ≤ e^{K(θ) − θε}·θ^θ/(1+θ)^{1+θ} for every θ > 0.
bool PrivacyProfile::dominated(const Question& question, const Grids& grids, double h, double bound,
                               const Saddle& saddle, bool reverse) const {
  const double epsilon = question.for_epsilon ? bound : question.value,
               delta = question.for_epsilon ? question.value : bound;
  std::vector<StepRun> steps;
  double slack = 0, shift = 0, infinite = 0;
  for (std::size_t g = 0; g < runs_.size(); ++g) {
    const bool swap = reverse && !runs_[g].upper.symmetric;
    steps.push_back({swap ? grids.upper[g].mirrored().upper_step() : grids.upper[g].upper_step(),
                     runs_[g].count});
    const double t = static_cast<double>(runs_[g].count);
    slack +=
        t * (steps.back().law.slack + 4 * kUlp * static_cast<double>(steps.back().law.mass.size()));
    shift += t * steps.back().law.shift;
    infinite += t * steps.back().law.infinite;
  }
  for (double factor : {1.0, 1.3, 1.7}) {
    const double theta = std::max(1e-6, saddle.theta * factor);
    const double log_bound = log_moment(steps, h, theta) + slack - theta * (epsilon - shift) +
                             theta * std::log(theta) - (1 + theta) * std::log1p(theta);
    if (std::exp(log_bound) + infinite <= delta) return true;
  }
  return false;
}

PrivacyProfile::Grids PrivacyProfile::grids_for(const Question& question, double h, double tail,
                                                double theta) const {
  Grids grids;
  std::vector<GridPlan> plans;
  for (const LawRun& run : runs_) {
    plans.push_back(anchor_ > 0 ? GridPlan{} : plan_grid(loss_nodes(run.upper, tail), theta, h));
    grids.upper.push_back(discretise(run.upper, h, tail, plans.back()));
  }
  if (question.wanted == Wanted::upper) return grids;
  if (attained_) {
    grids.lower = {grids.upper};
    return grids;
  }
  LossLaw nothing;
  nothing.atoms = {{0, 1, 1}};
  // The tilt of what is attained is smaller than that of the bound; how much, a few trials tell.
  const bool choice =
      std::ranges::any_of(runs_, [](const LawRun& run) { return run.attained_at != nullptr; });
  for (const double part : {1.0, 0.84, 0.7, 0.6, 0.5, 0.42, 0.35, 0.3}) {
    std::vector<CellGrid> laws;
    for (std::size_t g = 0; g < runs_.size(); ++g) {
      const LawRun& run = runs_[g];
      const LossLaw& fixed = run.lower ? *run.lower : nothing;
      laws.push_back(run.attained
                         ? grids.upper[g]
                         : discretise(run.attained_at ? run.attained_at(part * theta) : fixed, h,
                                      tail, plans[g]));
    }
    grids.lower.push_back(std::move(laws));
    if (!choice) break;
  }
  return grids;
}

// The same on a grid eight times coarser, at a tenth of the cost: neighbours in the two directions
// mostly differ by more than it blurs.
bool PrivacyProfile::dominated_on_coarse_grid(const Question& question, double h, double tail,
                                              double theta, double bound,
                                              const Candidate& candidate) const {
  if (anchor_ > 0 || work_.transform < kWorthCoarse) return false;
  Question coarse = question;
  coarse.wanted = Wanted::upper;
  const auto transform = work_.transform;
  double found = kInfinity;
  try {
    found = one_direction(coarse, grids_for(coarse, 8 * h, tail, theta), 8 * h, candidate).upper;
  } catch (const AccountingError&) {
    // No window on so coarse a grid: nothing is known.
  }
  work_.transform = transform;
  return found <= bound;
}

// One direction, on finer grids until the bounds meet or the limits of work are reached.
PrivacyProfile::Refined PrivacyProfile::refine(const Question& question, Candidate candidate,
                                               const LossMoments& moments, double tail) const {
  Refined out;
  CertifiedInterval& best = out.interval;
  best = {question.for_epsilon ? kInfinity : 1, 0};
  double h = choose_grid(question, candidate), floor = finest_grid(question, candidate);
  double widest = kInfinity;  // how much too wide the window of the last tilt was on this grid
  int moved = 0;
  double cells = 0;  // made so far
  const double most = 3 * effort_for(question.tolerance).cells;
  for (work_.rounds = 1; work_.rounds <= kRounds; ++work_.rounds) {
    work_.h = h;
    try {
      Grids grids = grids_for(question, h, tail, candidate.saddle.theta);
      for (const CellGrid& g : grids.upper) cells += cell_price_ * static_cast<double>(g.size());
      const CertifiedInterval now = one_direction(question, grids, h, candidate);
      if (now.upper <= best.upper || out.h == 0) out.grids = std::move(grids), out.h = h;
      best = {std::min(best.upper, now.upper), std::max(best.lower, now.lower)};
    } catch (const WindowTooWide& wide) {
      // Heavy tails: the tilt lifts them above the rest, so less of it needs less room. Where it
      // does not help a coarser grid does, and never one as fine again.
      if (wide.excess < 0.8 * widest && candidate.tilt > 1e-9) {
        widest = wide.excess;
        candidate.tilt *= 0.4;
        candidate.spread = moments.at(candidate.tilt, candidate.reverse).spread;
        continue;
      }
      if (work_.rounds == kRounds && !std::isfinite(best.upper)) throw;
      h *= 1.1 * wide.excess;
      floor = h;
      continue;
    }
    const double gap = best.upper > 0 ? (best.upper - best.lower) / best.upper : 0;
    if (gap <= question.tolerance || (cells > most && std::isfinite(best.upper))) break;
    const Saddle& saddle = candidate.saddle;
    const double off = best.upper - saddle.epsilon;
    if (question.for_epsilon && std::isfinite(best.upper) && moved < 2 &&
        (std::abs(off) > 2 * saddle.spread || -off > 0.3 * saddle.epsilon)) {
      // The saddle point was far off (losses of very different sizes): start again around the
      // answer.
      candidate = candidate_at(question, moments.for_epsilon(best.upper, candidate.reverse),
                               moments, candidate.reverse);
      h = std::min(choose_grid(question, candidate), 0.5 * h);
      floor = finest_grid(question, candidate);
      widest = kInfinity;
      ++moved;
      continue;
    }
    if (question.wanted == Wanted::upper) break;
    // The gap falls with h²; stop when the limits leave no room, or when it is not the grid that
    // causes it.
    if (!attained_) break;
    const double next =
        std::max(h * std::clamp(std::sqrt(0.7 * question.tolerance / gap), 0.2, 0.8), floor);
    if (off_grid_ == 0 || !(next < 0.9 * h)) break;
    h = anchor_ > next ? anchor_ / std::ceil(anchor_ / next) : next;
  }
  return out;
}

PrivacyProfile::Candidate PrivacyProfile::candidate_at(const Question& question,
                                                       const Saddle& saddle,
                                                       const LossMoments& moments,
                                                       bool reverse) const {
  const double epsilon = question.for_epsilon ? saddle.epsilon : question.value;
  const double log_delta = question.for_epsilon ? std::log(question.value) : saddle.log_delta;
  const double tilt = moments.gentle_tilt(saddle, epsilon, log_delta, question.tolerance, reverse);
  return {reverse, saddle, tilt, moments.at(tilt, reverse).spread};
}

// The directions to look at, the worse-looking one first: often a bound then settles the other one.
std::vector<PrivacyProfile::Candidate> PrivacyProfile::candidates_for(const Question& question,
                                                                      const LossMoments& moments,
                                                                      Direction direction) const {
  std::vector<Candidate> out;
  for (bool reverse : {false, true}) {
    if (direction == (reverse ? Direction::removal : Direction::addition)) continue;
    if (symmetric_ && reverse && direction == Direction::both) continue;
    out.push_back(candidate_at(question,
                               question.for_epsilon ? moments.for_delta(question.value, reverse)
                                                    : moments.for_epsilon(question.value, reverse),
                               moments, reverse));
  }
  std::stable_sort(out.begin(), out.end(), [&](const Candidate& a, const Candidate& b) {
    return question.for_epsilon ? a.saddle.epsilon > b.saddle.epsilon
                                : a.saddle.log_delta > b.saddle.log_delta;
  });
  return out;
}

CertifiedInterval PrivacyProfile::answer(const Question& question, Direction direction) const {
  if (runs_.empty()) return {};
  if (uses_ == 1) return exact(question, direction);
  // Tails of a fraction of δ are charged instead of computed. δ is the question or is estimated. A
  // fraction f of δ costs f/θ in ε, and θε is seldom below 5.
  const auto tail_for = [&](double delta) {
    return std::clamp(0.01 * question.tolerance * delta / uses_, 1e-290, 1e-12);
  };
  const auto moments_for = [&](double tail) {
    LossMoments m;
    for (const LawRun& run : runs_) m.add(loss_nodes(run.upper, tail), run.count);
    return m;
  };
  double tail = tail_for(question.for_epsilon ? question.value : 1e-30);
  LossMoments moments = moments_for(tail);
  std::vector<Candidate> candidates = candidates_for(question, moments, direction);
  if (!question.for_epsilon) {
    tail = tail_for(std::exp(candidates.front().saddle.log_delta));
    moments = moments_for(tail);
    candidates = candidates_for(question, moments, direction);
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
  // No composition loses more than its largest losses added up.
  if (question.for_epsilon && lost_ <= question.value)
    best.upper = std::min(best.upper, largest_total_);
  if (!question.for_epsilon && question.value >= largest_total_)
    best.upper = std::min(best.upper, widen_up(lost_, 1e-12));
  if (question.for_epsilon && !std::isfinite(best.upper)) {
    throw AccountingError(
        "the privacy loss cannot be bounded: no finite epsilon holds at this delta",
        "more noise, fewer steps or a larger delta are needed");
  }
  return best;
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
    if (!low_law) return 0.0;
    // Losses are quotients and products, each right to a few roundings.
    const double rounding = 8 * kUlp * (1 + epsilon);
    const double v = value(*low_law, epsilon + low_law->shift + rounding) - low_law->charged;
    return std::max(0.0, v) * std::exp(-low_law->slack) * (1 - kError);
  };
  if (!question.for_epsilon) return {upper(question.value), lower(question.value)};
  const auto solve_for = [&](const auto& curve, bool up) {
    if (curve(0) <= question.value) return 0.0;
    double a = 0, b = 1;
    while (curve(b) > question.value) {
      a = b;
      if ((b *= 2) > 1e7) {
        throw AccountingError(
            "the privacy loss cannot be bounded: no finite epsilon holds at this delta",
            "more noise or a larger delta are needed");
      }
    }
    while (b - a > 1e-13 * b) {
      const double mid = 0.5 * (a + b);
      (curve(mid) <= question.value ? b : a) = mid;
    }
    return up ? b : a;
  };
  return {solve_for(upper, true), low_law ? solve_for(lower, false) : 0};
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
