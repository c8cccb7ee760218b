#include "sotto/mechanisms/moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/mechanisms/counts.hpp"
#include "sotto/mechanisms/detail/rounding.hpp"

namespace sotto {
namespace {

using namespace detail;

// A whole number of steps as a double, never below it.
double steps_up(int128 steps) {
  const auto value = static_cast<double>(steps);
  return static_cast<int128>(value) < steps ? up(value) : value;
}

double in_range(double value, double low, double high) { return std::clamp(value, low, high); }

}  // namespace

MomentPlan::Code MomentPlan::choose_code(Moment moment, Relation relation, bool laplace) {
  const bool count_too = relation == Relation::add_remove;
  switch (moment) {
    case Moment::sum: return Code::value;
    case Moment::mean: return !count_too ? Code::centred : laplace ? Code::ends : Code::weighted;
    case Moment::variance: break;
  }
  if (count_too) return laplace ? Code::bernstein : Code::weighted_square;
  return laplace ? Code::square_laplace : Code::square_gaussian;
}

std::size_t MomentPlan::dimension(Code code) {
  switch (code) {
    case Code::value:
    case Code::centred: return 1;
    case Code::ends:
    case Code::weighted:
    case Code::square_laplace:
    case Code::square_gaussian: return 2;
    case Code::bernstein:
    case Code::weighted_square: return 3;
  }
  return 3;
}

// How far neighbours' sums can be apart, in steps. Only the norm that the code's noise uses is
// meaningful.
Distance MomentPlan::distance(Code code, const GridColumn& column, Relation relation) {
  const int128 low = column.lower(), high = column.upper(), h = column.half_width();
  const int128 width = high - low, weight = (h + 1) / 2;
  const bool replace = relation == Relation::replace_one;
  auto both = [](double d) { return Distance{d, d}; };
  switch (code) {
    case Code::value:
      return both(
          steps_up(replace ? width : std::max(low < 0 ? -low : low, high < 0 ? -high : high)));
    case Code::centred: return both(steps_up(replace ? width : h));
    case Code::ends: return both(steps_up(2 * h));
    case Code::weighted: return both(hypot_up(steps_up(h), steps_up(weight)));
    case Code::square_laplace: return both(steps_up(replace ? 2 * h + 1 : h + h / 2));
    case Code::square_gaussian:
      return both(replace ? steps_up(2 * h + 1) : hypot_up(steps_up(h), steps_up(h)));
    case Code::bernstein: return both(steps_up(h));
    case Code::weighted_square:
      return both(hypot_up(hypot_up(steps_up(h), steps_up(h - h / 2)), steps_up(weight)));
  }
  return {};
}

// The granularity follows from the budget and the sensitivity, which in units of the half-width
// needs only a rough figure.
GridColumn MomentPlan::make_column(Code code, const MomentOptions& options) {
  const double low = options.bounds.lower(), high = options.bounds.upper();
  const double half = high / 2 - low / 2, largest = std::max(std::fabs(low), std::fabs(high));
  const double rough =
      code == Code::value && options.relation != Relation::replace_one ? largest : 2 * half;
  if (!std::isfinite(rough) || !(rough > 0)) {
    throw InvalidArgument(fmt::format("the bounds [{}, {}] are too far apart", low, high),
                          "use another unit");
  }
  const double fine =
      LatticeNoise::granularity_for_budget(options.budget, {rough, rough}, dimension(code));
  // Bounds far from 0 compared with their width: a coarser step keeps them within 2^61 steps.
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double g = std::max(fine, std::ldexp(1.0, exponent - 61));
  return GridColumn(options.bounds, g, options.non_finite);
}

MomentPlan::MomentPlan(Moment moment, const MomentOptions& options)
    : moment_(moment),
      code_(choose_code(moment, options.relation, options.budget.is_pure())),
      column_(make_column(code_, options)),
      noise_(options.relation, options.budget, column_.granularity(),
             times(distance(code_, column_, options.relation), options.contributions),
             dimension(code_)) {}

std::string MomentPlan::describe() const {
  static constexpr std::string_view names[] = {"sum", "mean", "variance"};
  return fmt::format(
      "{} of a column clamped to [{}, {}]{}: {}", names[static_cast<int>(moment_)],
      column_.bounds().lower(), column_.bounds().upper(),
      moment_ != Moment::sum && relation() == Relation::add_remove ? ", with a noisy count" : "",
      noise_.describe());
}

std::array<int128, 3> MomentPlan::encode(double x, std::uint64_t record) const {
  if (code_ == Code::value) return {column_.steps(x, record), 0, 0};
  const int128 y = column_.centred(x, record), h = column_.half_width();
  switch (code_) {
    case Code::value:
    case Code::centred: return {y, 0, 0};
    case Code::ends: return {h - y, h + y, 0};
    case Code::weighted: return {y, (h + 1) / 2, 0};
    case Code::square_laplace: return {y, y * y / (2 * h), 0};
    case Code::square_gaussian: return {y, y * y / h, 0};
    case Code::bernstein: {
      const int128 a = (h - y) * (h - y) / (4 * h), c = (h + y) * (h + y) / (4 * h);
      return {a, h - a - c, c};
    }
    case Code::weighted_square: return {y, y * y / h - h / 2, (h + 1) / 2};
  }
  return {};
}

Statistic MomentPlan::decode(std::span<const int128> noisy, double records) const {
  const double g = column_.granularity();
  const auto h = static_cast<double>(column_.half_width());
  const int128 half_of_it = (static_cast<int128>(column_.half_width()) + 1) / 2;
  const auto weight = static_cast<double>(half_of_it);
  double z[3] = {0, 0, 0};
  for (std::size_t i = 0; i < noisy.size(); ++i) z[i] = static_cast<double>(noisy[i]);

  if (moment_ == Moment::sum) return {z[0] * g, noise_.info()};

  // Noisy n, Σy/H and Σ(y/H)² from the noisy vector, and how one unit of noise in each coordinate
  // moves mean and mean square.
  double n = records, first = 0, second = 0;
  switch (code_) {
    case Code::value: break;
    case Code::centred: first = z[0] / h; break;
    case Code::ends:
      n = (static_cast<double>(noisy[0] + noisy[1])) / (2 * h);
      first = static_cast<double>(noisy[1] - noisy[0]) / (2 * h);
      break;
    case Code::weighted:
      n = z[1] / weight;
      first = z[0] / h;
      break;
    case Code::square_laplace:
      first = z[0] / h;
      second = 2 * z[1] / h;
      break;
    case Code::square_gaussian:
      first = z[0] / h;
      second = z[1] / h;
      break;
    case Code::bernstein:  // with v = y/H: a = (1−v)²/4, b = (1−v²)/2, c = (1+v)²/4, in units of H
      n = static_cast<double>(noisy[0] + noisy[1] + noisy[2]) / h;
      first = static_cast<double>(noisy[2] - noisy[0]) / h;
      second = static_cast<double>(noisy[0] + noisy[2] - noisy[1]) / h;
      break;
    case Code::weighted_square:
      n = z[2] / weight;
      first = z[0] / h;
      second = z[1] / h + n / 2;
      break;
  }
  const bool noisy_count = relation() == Relation::add_remove;
  n = std::max(n, 1.0);
  const double mean = in_range(first / n, -1, 1), square = in_range(second / n, 0, 1);

  // First order: the error of the statistic is Σ gradient_i · noise_i / n, with the gradient in
  // units of one step over H.
  double gradient[3] = {0, 0, 0};
  const double m = mean;
  if (moment_ == Moment::mean) {
    switch (code_) {
      case Code::ends:
        gradient[0] = -(1 + m) / 2;
        gradient[1] = (1 - m) / 2;
        break;
      case Code::weighted:
        gradient[0] = 1;
        gradient[1] = -m * h / weight;
        break;
      default: gradient[0] = 1;
    }
  } else {
    const double s = square;  // variance = s − m²; d/dn = −(s − 2m²)/n
    const double by_count = -(s - 2 * m * m);
    switch (code_) {
      case Code::bernstein:
        gradient[0] = 1 + 2 * m + by_count;
        gradient[1] = -1 + by_count;
        gradient[2] = 1 - 2 * m + by_count;
        break;
      case Code::weighted_square:
        gradient[0] = -2 * m;
        gradient[1] = 1;
        gradient[2] = (by_count + 0.5) * h / weight;
        break;
      case Code::square_laplace:
        gradient[0] = -2 * m;
        gradient[1] = 2;
        break;
      default: gradient[0] = -2 * m; gradient[1] = 1;
    }
  }
  double norm = 0;
  for (double c : gradient) norm = std::hypot(norm, c);
  const double unit = moment_ == Moment::mean ? 1 : h * g;  // the variance is in squared units
  NoiseInfo info = noise_.info_times(norm / n * unit);
  info.approximate = noisy_count || moment_ == Moment::variance;
  if (noise_.dimension() > 1 && info.standard_deviation) {
    info.half_width_95 = 1.959963984540054 * *info.standard_deviation;
    if (!noise_.gaussian())
      info.half_width_95 =
          2.2 * *info.standard_deviation;  // 2.12 for one Laplace, less for a sum of them
  }

  if (moment_ == Moment::mean) {
    const double value = (static_cast<double>(column_.middle()) + mean * h) * g;
    return {in_range(value, column_.bounds().lower(), column_.bounds().upper()), info};
  }
  const double half = h * g;
  return {std::max(0.0, square - mean * mean) * half * half, info};
}

Release<Statistic> MomentPlan::finish(const GridSum& sum, Rng& rng) const {
  const std::vector<int128> noisy = noise_.add(sum.totals(), rng);
  // The exact number of records is used only where it is public.
  const double records = count_is_public(relation()) ? static_cast<double>(sum.records()) : 0;
  return {decode(noisy, records), *this};
}

MomentAccumulator MomentPlan::start() const { return MomentAccumulator(*this); }

Release<Statistic> MomentPlan::run(std::span<const double> records, Rng& rng) const {
  MomentAccumulator accumulator = start();
  for (double x : records) accumulator.add(x);
  return std::move(accumulator).finish(rng);
}

void MomentAccumulator::add(double x) {
  if (plan_.relation() == Relation::zero_out && !std::isfinite(x)) return add_null();
  const std::array<int128, 3> steps = plan_.encode(x, sum_.records() + 1);
  sum_.add(std::span(steps).first(plan_.noise().dimension()));
}

void MomentAccumulator::add_null() {
  if (plan_.relation() != Relation::zero_out) {
    throw Unsupported(fmt::format("null records have no meaning under {}", name(plan_.relation())),
                      "leave the record out, or use zero_out");
  }
  const std::array<int128, 3> nothing{};
  sum_.add(std::span(nothing).first(plan_.noise().dimension()));
}

Release<Statistic> MomentAccumulator::finish(Rng& rng) && { return plan_.finish(sum_, rng); }

}  // namespace sotto
