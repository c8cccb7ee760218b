#include "sotto/mechanisms/covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/mechanisms/detail/rounding.hpp"

namespace sotto {
namespace {

using namespace detail;

// A power of two, at least 2^-50 so that S fits twice into 128 bits, and fine enough to tell
// values.
double step_for(const Budget& budget, const Distance& natural, std::size_t dimension) {
  return std::clamp(LatticeNoise::granularity_for_budget(budget, natural, dimension), 0x1p-50,
                    0x1p-16);
}

Distance in_steps(const Distance& natural, double step) {  // ÷ a power of two: exact
  return {natural.l1 / step, natural.l2 / step};
}

double half_width(const Bounds& b) { return (b.upper() - b.lower()) / 2; }

// In steps from the middle; within [−S, S] for every double.
int128 centred(double x, const Bounds& bounds, int128 one) {
  const double middle = bounds.lower() / 2 + bounds.upper() / 2;
  const double u = std::clamp((x - middle) / half_width(bounds), -1.0, 1.0);
  return static_cast<int128>(std::nearbyint(u * static_cast<double>(one)));
}

}  // namespace

std::size_t CovariancePlan::dimension(Relation relation) {
  return relation == Relation::add_remove ? 6 : 5;
}

Distance CovariancePlan::distance(const CovarianceOptions& options) {
  const auto k = static_cast<double>(options.contributions);
  switch (options.relation) {
    case Relation::add_remove: return {5 * k, multiply_up(k, sqrt_up(4.5))};
    case Relation::replace_one: return {8 * k, multiply_up(k, sqrt_up(14))};
    case Relation::zero_out: return {5 * k, multiply_up(k, sqrt_up(5))};
  }
  invariant_broken("unknown relation");
}

CovariancePlan::CovariancePlan(const CovarianceOptions& options)
    : options_(options),
      noise_([&] {
        for (const Bounds& b : {options.first, options.second})
          if (!(half_width(b) > 0) || !std::isfinite(half_width(b)))
            throw InvalidArgument("a covariance needs bounds with a finite width above 0");
        const Distance natural = distance(options);
        const std::size_t d = dimension(options.relation);
        const double step = step_for(options.budget, natural, d);
        return LatticeNoise(options.relation, options.budget, step, in_steps(natural, step), d);
      }()),
      one_(static_cast<int128>(1 / noise_.granularity())) {}

std::string CovariancePlan::describe() const {
  return fmt::format(
      "covariance of columns clamped to [{}, {}] and [{}, {}]{}: {}", options_.first.lower(),
      options_.first.upper(), options_.second.lower(), options_.second.upper(),
      relation() == Relation::add_remove ? ", with a noisy count" : "", noise_.describe());
}

CovarianceAccumulator CovariancePlan::start() const { return CovarianceAccumulator(*this); }

void CovarianceAccumulator::add(double x, double y) {
  const int128 one = plan_.one_;
  if (!std::isfinite(x) || !std::isfinite(y)) {
    ++records_;
    return;
  }
  const int128 u = centred(x, plan_.options_.first, one),
               v = centred(y, plan_.options_.second, one);
  const bool counted = plan_.relation() == Relation::add_remove;
  const int128 shift = counted ? one / 2 : 0;
  std::size_t at = 0;
  if (counted) sums_[at++] += one;
  for (const int128 entry : {u, v, u * v / one, u * u / one - shift, v * v / one - shift})
    sums_[at++] += entry;
  ++records_;
}

Release<CovarianceFigures> CovarianceAccumulator::finish(Rng& rng) && {
  const std::vector<int128> noisy = plan_.noise_.add(sums_, rng);
  // The exact number of records is used only where it is public.
  const double records = count_is_public(plan_.relation()) ? static_cast<double>(records_) : 0;
  return {plan_.decode(noisy, records), plan_};
}

CovarianceFigures CovariancePlan::decode(const std::vector<int128>& noisy, double records) const {
  const bool counted = relation() == Relation::add_remove;
  const auto entry = [&](std::size_t i) {
    return static_cast<double>(noisy[i + (counted ? 1 : 0)]) / static_cast<double>(one_);
  };
  const double n =
      std::max(1.0, counted ? static_cast<double>(noisy[0]) / static_cast<double>(one_) : records);
  const double shift = counted ? 0.5 : 0;
  const double mu = std::clamp(entry(0) / n, -1.0, 1.0), mv = std::clamp(entry(1) / n, -1.0, 1.0);
  const double uv = std::clamp(entry(2) / n, -1.0, 1.0);
  const double vu = std::clamp(entry(3) / n + shift, 0.0, 1.0) - mu * mu,
               vv = std::clamp(entry(4) / n + shift, 0.0, 1.0) - mv * mv;
  const double covariance = uv - mu * mv;
  // First order: how one unit of noise in each coordinate moves the figure, times n.
  const double by_count = counted ? 2 * mu * mv - uv : 0;
  const auto info = [&](double norm, double unit) {
    NoiseInfo noise = noise_.info_times(norm / n * unit);
    noise.approximate = true;
    if (noise.standard_deviation)
      noise.half_width_95 = (noise_.gaussian() ? 1.96 : 2.2) * *noise.standard_deviation;
    return noise;
  };
  const double norm = std::sqrt(1 + mu * mu + mv * mv + by_count * by_count);
  const double unit = half_width(options_.first) * half_width(options_.second);
  CovarianceFigures figures{{covariance * unit, info(norm, unit)}, std::nullopt};
  // A variance below what the noise alone makes says nothing.
  const double drowned = 2 * noise_.info().standard_deviation.value_or(noise_.scale()) / n;
  if (vu > drowned && vv > drowned) {
    const double spread = std::sqrt(vu * vv), r = std::clamp(covariance / spread, -1.0, 1.0);
    const double by_spread = r / 2 * std::hypot(1 / vu, 1 / vv);
    figures.correlation = {r, info(std::hypot(norm / spread, by_spread * norm), 1)};
  }
  return figures;
}

}  // namespace sotto
