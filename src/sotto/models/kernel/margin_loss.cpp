#include "sotto/models/kernel/detail/margin_loss.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/kernel/detail/residual_kernels.hpp"
#include "sotto/models/linear/detail/slope_kernels.hpp"

namespace sotto {
namespace {

double identity(double y) { return y; }
double to_sign(double y) { return 2 * y - 1; }

}  // namespace

MarginLoss margin_loss(const Facts& facts) {
  const std::size_t classes = facts.classes().size();
  return classes == 0   ? MarginLoss::number
         : classes == 2 ? MarginLoss::two_classes
                        : MarginLoss::classes;
}

std::size_t margins_of(const Facts& facts) {
  return std::max<std::size_t>(1, facts.classes().size() <= 2 ? 1 : facts.classes().size());
}

double (*label_of(MarginLoss loss))(double) {
  return loss == MarginLoss::two_classes ? to_sign : identity;
}

double first_clip(MarginLoss loss) { return loss == MarginLoss::two_classes ? 0.6 : 1; }

double residuals(MarginLoss loss, double clip, std::span<const double> margins, float target,
                 std::span<double> out) {
  switch (loss) {
    case MarginLoss::two_classes: {
      const double p = 1 / (1 + std::exp(-margins[0]));
      out[0] = std::clamp((p - static_cast<double>(target)) / clip, -1.0, 1.0);
      return 4 * p * (1 - p);
    }
    case MarginLoss::number:
      out[0] = std::clamp((margins[0] - static_cast<double>(target)) / clip, -1.0, 1.0);
      return 1;
    case MarginLoss::classes: break;
  }
  const double top = *std::max_element(margins.begin(), margins.end());
  double total = 0, squares = 0;
  for (std::size_t k = 0; k < out.size(); ++k) total += out[k] = std::exp(margins[k] - top);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double p = out[k] / total;
    squares += p * p;
    out[k] = p - (static_cast<double>(target) == static_cast<double>(k) ? 1 : 0);
  }
  const double classes = static_cast<double>(out.size());
  return (1 - squares) * classes / (classes - 1);
}

void residuals_of_all(MarginLoss loss, double clip, std::span<const double> margins,
                      std::span<const float> targets, std::span<double> out,
                      std::span<double> curvatures) {
  const std::size_t count = targets.size();
  switch (loss) {
    case MarginLoss::two_classes:
      return residual_kernels::of_two_classes(margins.data(), targets.data(), count, clip,
                                              out.data(), curvatures.data());
    case MarginLoss::number:
      std::fill(curvatures.begin(), curvatures.end(), 1.0);
      return residual_kernels::of_numbers(margins.data(), targets.data(), count, clip, out.data());
    case MarginLoss::classes: break;
  }
  const std::size_t own = count > 0 ? margins.size() / count : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double curvature =
        residuals(loss, clip, margins.subspan(i * own, own), targets[i], out.subspan(i * own, own));
    if (!curvatures.empty()) curvatures[i] = curvature;
  }
}

void to_residual_steps(std::span<double> residuals, std::size_t of_a_record) {
  if (of_a_record == 1)
    return detail::bound_slopes(residuals.data(), residuals.size(), 1, kResidualBits);
  constexpr double kSteps = 1 << kResidualBits;
  for (std::size_t first = 0; first < residuals.size(); first += of_a_record) {
    const std::span<double> own = residuals.subspan(first, of_a_record);
    double square = 0;
    for (double& r : own) {
      if (!std::isfinite(r)) r = 0;
      square += r * r;
    }
    const double factor = square > 1 ? kSteps / std::sqrt(square) * (1 - 0x1p-40) : kSteps;
    for (double& r : own) r = std::trunc(r * factor);
  }
}

double loss_of(MarginLoss loss, double clip, std::span<const double> margins, float target) {
  const auto y = static_cast<double>(target);
  switch (loss) {
    case MarginLoss::two_classes: {
      const double against = y > 0.5 ? -margins[0] : margins[0];
      return std::max(0.0, against) + std::log1p(std::exp(-std::abs(against)));
    }
    case MarginLoss::number: {
      const double r = std::clamp((std::clamp(margins[0], -1.0, 1.0) - y) / clip, -1.0, 1.0);
      return r * r;
    }
    case MarginLoss::classes: break;
  }
  const double top = *std::max_element(margins.begin(), margins.end());
  double total = 0, own = top;
  for (std::size_t k = 0; k < margins.size(); ++k) {
    total += std::exp(margins[k] - top);
    if (y == static_cast<double>(k)) own = margins[k];
  }
  return top + std::log(total) - own;
}

double newton_scale(MarginLoss loss, double clip, std::size_t margins) {
  const double classes = static_cast<double>(margins);
  switch (loss) {
    case MarginLoss::two_classes: return 4 * clip;
    case MarginLoss::number: return clip;
    case MarginLoss::classes: break;
  }
  // A whole step is K²/(K − 1); a small part of it, since it multiplies the noise of every class.
  return 1 + classes / 10;
}

bool measures_residuals(std::uint64_t round, std::uint64_t rounds) {
  std::uint64_t i = 0;
  for (const std::uint64_t part : {rounds, rounds / 16, rounds / 8, rounds / 4, rounds / 2}) {
    if (round == (i == 0 ? 0 : std::max(i, part))) return true;
    ++i;
  }
  return false;
}

double reach_of(double clip) { return std::min(2.0, 3 * clip); }

double part_of_reach(double margin, float target, double reach) {
  const double r = (std::clamp(margin, -1.0, 1.0) - static_cast<double>(target)) / reach;
  return std::isfinite(r) ? std::min(1.0, r * r) : 0;
}

double next_clip(double clip, double mean_part) {
  // At most 3.6 times the clip before; noise alone makes it no smaller than a third of that.
  const double rms = reach_of(clip) * std::sqrt(std::max(0.0, mean_part));
  return std::clamp(1.2 * rms, std::max(0.02, clip / 3), 1.0);
}

double confirmed_rho(const TrainingRequest& request, Relation relation,
                     const std::function<Event(double rho)>& event_of) {
  const Budget& budget = required_budget(request);
  if (budget.is_pure())
    throw InvalidArgument("this model needs Gaussian noise, which has no pure epsilon",
                          "give `delta` or `rho` too, or another `model`");
  return rho_of(confirmed(budget, relation, [&](const Budget& b) { return event_of(rho_of(b)); }));
}

}  // namespace sotto
