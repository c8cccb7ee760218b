#include "sotto/accounting/pld/detail/two_point.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/numeric/detail/loss_grid.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr std::size_t kFew = 6;  // fewer are composed as they are

bool two_point(const LawRun& run) {
  const LossLaw& law = run.upper;
  return run.attained && law.symmetric && !law.fold && law.pieces.empty() &&
         law.atoms.size() == 2 && law.atoms[0].loss > 0 &&
         law.atoms[0].loss == -law.atoms[1].loss && law.charged == 0 && law.shift == 0 &&
         law.slack == 0 && law.p_infinite == law.q_infinite;
}

LawRun composed(const std::vector<LawRun>& runs, double delta, double tolerance) {
  std::vector<ApproximateDp> parts;
  double log_kept = 0;  // ln Π (1 − δ_i)
  for (const LawRun& run : runs) {
    const double count = static_cast<double>(run.count);
    parts.push_back({run.upper.atoms[0].loss, 0, run.count});
    log_kept += count * std::log1p(-run.upper.p_infinite);
  }
  std::ranges::sort(parts, {}, &ApproximateDp::epsilon);  // short laws first
  const GridComposition grid = compose_on_grid(parts, delta, 0.2 * tolerance);
  const double lost = -std::expm1(log_kept), kept = std::exp(log_kept);
  LawRun out;
  out.attained = false;
  out.upper.symmetric = true;
  out.upper.p_infinite = widen_up(lost, 1e-12);
  out.upper.slack = grid.error();
  out.upper.charged = grid.lost();
  double q_sum = 0;
  grid.for_each_upper([&](double loss, double p) {
    out.upper.atoms.push_back({loss, kept * p, kept * p * std::exp(-loss)});
    q_sum += out.upper.atoms.back().q;
  });
  // What was cut below weighs nothing under P, but it does under Q.
  out.upper.q_infinite = std::max(out.upper.p_infinite, 1 - q_sum);
  LossLaw lower;
  lower.symmetric = true;
  lower.p_infinite = lower.q_infinite = widen_down(lost, 1e-12);
  lower.slack = 2 * grid.error();
  lower.shift = 2 * grid.error();
  grid.for_each_lower([&](double loss, double p) {
    lower.atoms.push_back({loss, kept * p, kept * p * std::exp(-loss)});
  });
  out.lower = std::move(lower);
  return out;
}

}  // namespace

std::vector<LawRun> merge_two_point(std::vector<LawRun> runs, double delta, double tolerance) {
  const auto rest = std::stable_partition(runs.begin(), runs.end(), two_point);
  const auto many = static_cast<std::size_t>(rest - runs.begin());
  if (many < kFew) return runs;
  std::vector<LawRun> out(std::make_move_iterator(rest), std::make_move_iterator(runs.end()));
  runs.erase(rest, runs.end());
  out.push_back(composed(runs, delta, tolerance));
  return out;
}

}  // namespace sotto
