#include "sotto/audit/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sotto/audit/detail/output_scores.hpp"
#include "sotto/audit/proportion.hpp"
#include "sotto/core/error.hpp"

namespace sotto::audit {
namespace {

constexpr std::size_t kFewestOutputs = 20, kThresholds = 40;

// Outputs whose score is beyond (or below) a threshold.
struct Event {
  const OutputScore* score = nullptr;
  double threshold = 0;
  bool beyond = true;
  bool first_likelier = true;

  bool holds(const Output& o) const {
    const double s = score->of(o);
    return beyond ? s > threshold : s < threshold;
  }
};

struct Limits {
  double p, q;
};

Limits limits(const Event& event, std::uint64_t in_first, std::uint64_t firsts,
              std::uint64_t in_second, std::uint64_t seconds, double alpha) {
  if (event.first_likelier)
    return {clopper_pearson_lower(in_first, firsts, alpha / 2),
            clopper_pearson_upper(in_second, seconds, alpha / 2)};
  return {clopper_pearson_lower(in_second, seconds, alpha / 2),
          clopper_pearson_upper(in_first, firsts, alpha / 2)};
}

double epsilon_within(const Limits& l, double delta) {
  return l.p > delta && l.p - delta > l.q ? std::log((l.p - delta) / l.q) : 0;
}

// Of two coins; the data-processing inequality makes it a bound for the mechanism.
double renyi_of(const Limits& l, double order) {
  if (l.p <= l.q) return 0;
  const double rest = l.q >= 1 ? 0 : std::pow(1 - l.p, order) * std::pow(1 - l.q, 1 - order);
  return std::max(0.0,
                  std::log(std::pow(l.p, order) * std::pow(l.q, 1 - order) + rest) / (order - 1));
}

// The event with the largest bound, by value(limits), on these outputs.
template <class Value>
Event best_event(const std::vector<OutputScore>& scores, const std::vector<Output>& first,
                 const std::vector<Output>& second, double alpha, const Value& value) {
  Event best{&scores.front()};
  double most = -1;
  for (const OutputScore& score : scores) {
    std::vector<double> a, b;
    for (const Output& o : first) a.push_back(score.of(o));
    for (const Output& o : second) b.push_back(score.of(o));
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<double> thresholds;
    for (const auto* side : {&a, &b}) {
      for (std::size_t k = 0; k <= kThresholds; ++k)
        thresholds.push_back((*side)[(side->size() - 1) * k / kThresholds]);
      for (std::size_t k = 1; k < side->size(); k *= 2) {
        thresholds.push_back((*side)[k]);
        thresholds.push_back((*side)[side->size() - 1 - k]);
      }
    }
    std::ranges::sort(thresholds);
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    for (const double t : thresholds) {
      const auto count = [t](const std::vector<double>& sorted, bool beyond) {
        return static_cast<std::uint64_t>(
            beyond ? sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), t)
                   : std::lower_bound(sorted.begin(), sorted.end(), t) - sorted.begin());
      };
      for (const bool beyond : {true, false}) {
        for (const bool first_likelier : {true, false}) {
          const Event event{&score, t, beyond, first_likelier};
          const double v =
              value(limits(event, count(a, beyond), a.size(), count(b, beyond), b.size(), alpha));
          if (v > most) most = v, best = event;
        }
      }
    }
  }
  return best;
}

Limits count(const Event& event, const std::vector<Output>& first,
             const std::vector<Output>& second, double alpha) {
  const auto in = [&](const std::vector<Output>& side) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(side, [&](const Output& o) { return event.holds(o); }));
  };
  return limits(event, in(first), first.size(), in(second), second.size(), alpha);
}

// Of four outputs one teaches scores, one chooses among them and two count: a score that was learnt
// from an output looks better on it than it is. Cut by turns, so that a drift hits all alike.
struct Parts {
  std::vector<Output> taught, chosen, counted;
};
Parts parts(const std::vector<std::string>& lines) {
  Parts out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    (i % 4 == 0   ? out.taught
     : i % 4 == 1 ? out.chosen
                  : out.counted)
        .push_back(parse_output(lines[i]));
  return out;
}

}  // namespace

OutputAudit audit_outputs(const std::vector<std::string>& first,
                          const std::vector<std::string>& second, const OutputOptions& options) {
  for (const auto* side : {&first, &second}) {
    if (side->size() < kFewestOutputs)
      throw InvalidArgument(
          fmt::format("there are {} outputs of one input", side->size()),
          fmt::format("at least {} are needed, thousands say more", kFewestOutputs));
  }
  const double alpha = 1 - options.confidence;
  const Parts in_first = parts(first), in_second = parts(second);
  const std::vector<Output>&a = in_first.chosen, &b = in_second.chosen,
        &counted_a = in_first.counted, &counted_b = in_second.counted;
  const std::vector<OutputScore> scores = output_scores(in_first.taught, in_second.taught);
  OutputAudit audit;
  const Event event = best_event(scores, a, b, alpha,
                                 [&](const Limits& l) { return epsilon_within(l, options.delta); });
  const Limits found = count(event, counted_a, counted_b, alpha);
  audit.epsilon = epsilon_within(found, options.delta);
  audit.event =
      fmt::format("{} {} {:.6g}", event.score->words, event.beyond ? ">" : "<", event.threshold);
  audit.first_likelier = event.first_likelier;
  audit.probability_lower = found.p;
  audit.other_upper = found.q;
  // Of an event that always tells them apart, whichever side it is likelier on.
  const auto most = [&](std::size_t here, std::size_t there) {
    return epsilon_within(
        {clopper_pearson_lower(here, here, alpha / 2), clopper_pearson_upper(0, there, alpha / 2)},
        options.delta);
  };
  audit.ceiling =
      std::max(most(counted_a.size(), counted_b.size()), most(counted_b.size(), counted_a.size()));
  const auto missed = [&](const Limits& l) {
    return std::max(0.0, l.p - std::exp(options.epsilon) * l.q);
  };
  audit.delta = missed(count(best_event(scores, a, b, alpha, missed), counted_a, counted_b, alpha));
  const auto divergence = [&](const Limits& l) { return renyi_of(l, options.order); };
  audit.renyi =
      divergence(count(best_event(scores, a, b, alpha, divergence), counted_a, counted_b, alpha));
  return audit;
}

double exact_epsilon(const std::vector<double>& first, const std::vector<double>& second,
                     double delta) {
  if (first.size() != second.size() || first.empty())
    throw InvalidArgument("two laws must have the same outputs");
  const auto missed = [](const std::vector<double>& p, const std::vector<double>& q, double e) {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      // e^∞·0 is nothing.
      const double covered = q[i] > 0 ? std::exp(e + std::log(q[i])) : 0;
      sum += std::max(0.0, p[i] - covered);
    }
    return sum;
  };
  const auto worst = [&](double e) {
    return std::max(missed(first, second, e), missed(second, first, e));
  };
  double high = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] > 0 && second[i] > 0)
      high = std::max(high, std::abs(std::log(first[i] / second[i])));
  }
  // Beyond the largest finite ratio only outputs that one law does not have are left.
  constexpr double kRounding = 1e-12;
  if (worst(high + kRounding) > delta + kRounding) return HUGE_VAL;
  if (worst(0) <= delta) return 0;
  double low = 0;
  if (delta == 0) return high;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (worst(middle) > delta ? low : high) = middle;
  }
  return high;
}

}  // namespace sotto::audit
