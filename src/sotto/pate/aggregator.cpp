#include "sotto/pate/aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/pate/two_classes.hpp"

namespace sotto::pate {
namespace {

constexpr std::array kNames = {"lnmax", "gnmax", "confident_gnmax", "interactive"};
constexpr std::int64_t kSteps = std::int64_t{1} << 20;  // in a vote
const double kMove = std::sqrt(2.0);                    // one vote moved, in ℓ2; rounded up below

double checked_scale(double sigma, const char* what) {
  if (!(sigma >= 0x1p-20 && sigma <= 0x1p20))
    throw InvalidArgument(
        fmt::format("{} is {}; it must be from {} to {} votes", what, sigma, 0x1p-20, 0x1p20));
  return sigma * static_cast<double>(kSteps);
}

LabelOptions checked(LabelOptions o) {
  if (o.classes < 2) throw InvalidArgument("votes need two classes or more");
  if (o.teachers < 1 || o.teachers > 1'000'000'000)
    throw InvalidArgument("the number of teachers must be from 1 to 1000000000");
  if (o.queries < 1) throw InvalidArgument("there is no query to answer");
  if (o.answers == 0) o.answers = o.queries;
  if (o.answers > o.queries)
    throw InvalidArgument(fmt::format("{} answers to {} queries", o.answers, o.queries),
                          "`answers` is at most the number of queries");
  if (!has_threshold(o.aggregator)) {
    if (o.answers != o.queries)
      throw InvalidArgument(fmt::format(
          "{} answers every query; `answers` is for those with a threshold", name(o.aggregator)));
    return o;
  }
  const double most = static_cast<double>(o.teachers);
  if (!(o.threshold >= -most && o.threshold <= 2 * most))
    throw InvalidArgument(
        fmt::format("`threshold` is {}; there are {} teachers", o.threshold, o.teachers));
  if (!(o.student_certainty >= 0 && o.student_certainty <= 1))
    throw InvalidArgument("`student_certainty` is a probability");
  return o;
}

std::variant<DiscreteLaplace, DiscreteGaussian> noise_for(const LabelOptions& o) {
  const double scale = checked_scale(o.sigma, "`sigma`");
  if (o.aggregator == Aggregator::lnmax) return DiscreteLaplace(scale);
  return DiscreteGaussian(scale);
}

std::optional<DiscreteGaussian> threshold_noise_for(const LabelOptions& o) {
  if (!has_threshold(o.aggregator)) return std::nullopt;
  return DiscreteGaussian(checked_scale(o.sigma_threshold, "`sigma_threshold`"));
}

Event event_for(const LabelOptions& o) {
  std::vector<Event> events;
  if (has_threshold(o.aggregator))
    events.push_back(repeat(DiscreteGaussianEvent{o.sigma_threshold, 1, kVoteStep, 1}, o.queries));
  if (o.as_bits) {
    const auto law = answer_law(o);
    if (!law)
      throw InvalidArgument("answers as bits cost no less than noisy counts here",
                            "leave `as_bits` out");
    events.push_back(repeat(TcdpEvent{law->rho, law->omega}, o.answers));
  } else if (o.aggregator == Aggregator::lnmax) {
    events.push_back(repeat(DiscreteLaplaceEvent{o.sigma, 2, kVoteStep, o.classes}, o.answers));
  } else {
    const double move = std::nextafter(kMove, 2);
    events.push_back(repeat(DiscreteGaussianEvent{o.sigma, move, kVoteStep, o.classes}, o.answers));
  }
  return compose(std::move(events));
}

}  // namespace

std::string_view name(Aggregator aggregator) {
  return kNames[static_cast<std::size_t>(aggregator)];
}

Aggregator parse_aggregator(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end())
    throw InvalidArgument(fmt::format("'{}' is no aggregator", text),
                          "lnmax, gnmax, confident_gnmax or interactive");
  return static_cast<Aggregator>(found - kNames.begin());
}

LabelPlan::LabelPlan(const LabelOptions& options)
    : options_(checked(options)),
      noise_(noise_for(options_)),
      threshold_noise_(threshold_noise_for(options_)),
      event_(event_for(options_)) {}

std::string LabelPlan::describe() const {
  std::string text =
      fmt::format("{} over {} teachers, {} queries, noise {:.6g}", name(options_.aggregator),
                  options_.teachers, options_.queries, options_.sigma);
  if (threshold_noise_)
    text += fmt::format(", threshold {:.6g} with noise {:.6g}, at most {} answers",
                        options_.threshold, options_.sigma_threshold, options_.answers);
  if (options_.as_bits) text += "; an answer between two classes costs as a bit";
  return text;
}

std::int64_t LabelPlan::margin(const Votes& votes, std::size_t query,
                               const std::vector<double>* student) const {
  const auto counts = votes.row(query);
  std::int64_t largest = -static_cast<std::int64_t>(votes.teachers);
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const double expected = student == nullptr ? 0
                                               : std::round(static_cast<double>(votes.teachers) *
                                                            (*student)[query * counts.size() + j]);
    largest = std::max(largest, counts[j] - static_cast<std::int64_t>(expected));
  }
  return largest;
}

bool LabelPlan::confident(std::int64_t margin, Rng& rng) const {
  const std::int64_t steps = margin * kSteps;
  auto scope = rng.query({.mechanism = "discrete_gaussian",
                          .values = std::span<const std::int64_t>(&steps, 1),
                          .sensitivity = static_cast<double>(kSteps),
                          .norm = Norm::l2,
                          .scale = threshold_noise_->sigma()});
  const auto needed =
      static_cast<std::int64_t>(std::ceil(options_.threshold * static_cast<double>(kSteps)));
  std::int64_t yes = steps + threshold_noise_->sample(rng) >= needed ? 1 : 0;
  scope.publish(std::span<std::int64_t>(&yes, 1));
  return yes != 0;
}

std::uint32_t LabelPlan::answer(std::span<const std::int64_t> counts, Rng& rng) const {
  std::vector<std::int64_t> steps;
  steps.reserve(counts.size());
  for (const std::int64_t c : counts) steps.push_back(c * kSteps);
  const bool laplace = noise_.index() == 0;
  auto scope = rng.query(
      {.mechanism = laplace ? "discrete_laplace" : "discrete_gaussian",
       .values = std::span<const std::int64_t>(steps),
       .sensitivity = (laplace ? 2 : std::nextafter(kMove, 2)) * static_cast<double>(kSteps),
       .norm = laplace ? Norm::l1 : Norm::l2,
       .scale = options_.sigma * static_cast<double>(kSteps)});
  std::size_t best = 0;
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (std::size_t j = 0; j < steps.size(); ++j) {
    const std::int64_t noisy =
        steps[j] + std::visit([&](const auto& noise) { return noise.sample(rng); }, noise_);
    if (noisy > highest) highest = noisy, best = j;
  }
  auto chosen = static_cast<std::int64_t>(best);
  scope.publish(std::span<std::int64_t>(&chosen, 1));
  return static_cast<std::uint32_t>(chosen);
}

Release<Labels> LabelPlan::run(const Votes& votes, Rng& rng,
                               const std::vector<double>* student) const {
  if (votes.queries() != options_.queries || votes.classes != options_.classes ||
      votes.teachers != options_.teachers)
    throw InvalidArgument("the votes are not those that were planned for");
  const bool asks_student = options_.aggregator == Aggregator::interactive;
  if (asks_student != (student != nullptr) ||
      (student != nullptr && student->size() != votes.counts.size()))
    throw InvalidArgument("interactive, and only it, needs what the student says of every query");
  Labels result;
  result.labels.resize(votes.queries());
  for (std::size_t i = 0; i < votes.queries() && result.answered < options_.answers; ++i) {
    ++result.asked;
    Label& label = result.labels[i];
    if (threshold_noise_ && !confident(margin(votes, i, student), rng)) {
      if (student == nullptr) continue;
      const auto first = student->begin() + static_cast<std::ptrdiff_t>(i * votes.classes);
      const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(votes.classes));
      if (*best >= options_.student_certainty)
        label = {Origin::student, static_cast<std::uint32_t>(best - first)};
      continue;
    }
    label = {Origin::teachers, answer(votes.row(i), rng)};
    ++result.answered;
  }
  return {std::move(result), *this};
}

}  // namespace sotto::pate
