// How a question is answered on grids: which tilt, which grid, one direction after the other, finer
// until the bounds meet or the limits of work are reached.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/accounting/pld/profile.hpp"
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
  if (tolerance < kCoarseTolerance) return {std::size_t{1} << 17, 1 << 18};
  return {std::size_t{1} << 15, 1 << 16};
}
constexpr double kCheapCells =
    1 << 13;  // a grid this size costs next to nothing, so never use a coarser one
constexpr double kWindowWidths =
    16;  // width of a window in standard deviations of the tilted total
constexpr int kRounds = 10;
constexpr double kStuck = 0.97;  // of the gap before: what is left is not worth another round
constexpr std::size_t kWorthCoarse =
    1 << 15;  // smaller transforms are not worth a look at a coarser grid

}  // namespace

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

std::vector<GridPlan> PrivacyProfile::plans_for(double h, double tail, double theta) const {
  std::vector<GridPlan> plans;
  for (const LawRun& run : runs_)
    plans.push_back(anchor_ > 0 ? GridPlan{} : plan_grid(loss_nodes(run.upper, tail), theta, h));
  return plans;
}

double PrivacyProfile::cells_of(const std::vector<GridPlan>& plans, double h, double tail) const {
  double cells = 0;
  for (std::size_t g = 0; g < runs_.size(); ++g)
    cells += cells_to_make(runs_[g].upper, h, tail, plans[g]);
  return cells;
}

PrivacyProfile::Grids PrivacyProfile::grids_for(const Question& question,
                                                const std::vector<GridPlan>& plans, double h,
                                                double tail, double theta) const {
  Grids grids;
  for (std::size_t g = 0; g < runs_.size(); ++g)
    grids.upper.push_back(discretise(runs_[g].upper, h, tail, plans[g]));
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
    const Grids grids = grids_for(coarse, plans_for(8 * h, tail, theta), 8 * h, tail, theta);
    found = one_direction(coarse, grids, 8 * h, candidate).upper;
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
  Grids grids;
  double made = 0;  // the grid that these are of
  for (work_.rounds = 1; work_.rounds <= kRounds; ++work_.rounds) {
    if (h != made) {
      // Far tails of small δ may span more cells than one use is allowed.
      const double theta = candidate.saddle.theta;
      std::vector<GridPlan> plans = plans_for(h, tail, theta);
      if (const double price = cell_price_ * cells_of(plans, h, tail);
          price > most && anchor_ == 0) {
        floor = h *= price / most;
        plans = plans_for(h, tail, theta);
      }
      grids = grids_for(question, plans, h, tail, theta);
      for (const CellGrid& g : grids.upper) cells += cell_price_ * static_cast<double>(g.size());
      made = h;
    }
    work_.h = h;
    const CertifiedInterval before = best;
    try {
      const CertifiedInterval now = one_direction(question, grids, h, candidate);
      if (now.upper <= best.upper || out.h == 0)
        out.grids = std::exchange(grids, {}), out.h = h, made = 0;
      best = {std::min(best.upper, now.upper), std::max(best.lower, now.lower)};
    } catch (const WindowTooWide& wide) {
      if (cells > most && std::isfinite(best.upper)) break;
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
    // A finer grid or another tilt has changed next to nothing: it is not the grid that causes it.
    // Nothing is known of a gap as wide as the bound: on a coarse grid merging may leave nothing.
    if (before.lower > 0 && best.upper - best.lower > kStuck * (before.upper - before.lower)) break;
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

PrivacyProfile::Candidate PrivacyProfile::candidate_at(const Question& question, Saddle saddle,
                                                       const LossMoments& moments,
                                                       bool reverse) const {
  // The answer is at least what is lost; what is far below that needs no tilt.
  if (!question.for_epsilon && lost_ > 0)
    saddle.log_delta = std::max(saddle.log_delta, std::log(lost_));
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
  // What is lost leaves so much less of δ.
  const double delta = question.value - std::min(lost_, 0.99 * question.value);
  for (bool reverse : {false, true}) {
    if (direction == (reverse ? Direction::removal : Direction::addition)) continue;
    if (symmetric_ && reverse && direction == Direction::both) continue;
    out.push_back(candidate_at(question,
                               question.for_epsilon ? moments.for_delta(delta, reverse)
                                                    : moments.for_epsilon(question.value, reverse),
                               moments, reverse));
  }
  std::stable_sort(out.begin(), out.end(), [&](const Candidate& a, const Candidate& b) {
    return question.for_epsilon ? a.saddle.epsilon > b.saddle.epsilon
                                : a.saddle.log_delta > b.saddle.log_delta;
  });
  return out;
}

}  // namespace sotto
