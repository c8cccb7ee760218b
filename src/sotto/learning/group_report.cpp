#include "sotto/learning/group_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sotto {
namespace {

constexpr double kDrowned = 4;  // standard deviations that a divisor must exceed

using Cell = std::function<bool(std::size_t truth, std::size_t said)>;

// Of the rows in `of` the share in `in`.
std::optional<PrivateMetric> rate(const GroupCounts& g, const Cell& of, const Cell& in) {
  double all = 0, part = 0;
  std::size_t cells = 0;
  const auto each = [&](const auto& use) {
    for (std::size_t t = 0; t < g.confusion.size(); ++t)
      for (std::size_t s = 0; s < g.confusion[t].size(); ++s)
        if (of(t, s)) use(g.confusion[t][s], in(t, s));
  };
  each([&](double count, bool counted) {
    all += count;
    part += counted ? count : 0;
    ++cells;
  });
  if (!(all >= 1) || !(all > kDrowned * g.sigma * std::sqrt(static_cast<double>(cells))))
    return std::nullopt;
  const double value = std::clamp(part / all, 0.0, 1.0);
  double variance = 0;
  each([&](double count, bool counted) {
    const double slope = ((counted ? 1.0 : 0.0) - value) / all;
    variance += (std::max(0.0, count) + g.sigma * g.sigma) * slope * slope;
  });
  const double half = g.z * std::sqrt(variance);
  const auto n = static_cast<std::uint64_t>(std::max(1.0, std::round(all)));
  const auto k = std::min(n, static_cast<std::uint64_t>(std::llround(value * all)));
  const Interval score = wilson_95(k, n);
  return PrivateMetric{value,
                       {std::max(0.0, std::min(value - half, score.lower)),
                        std::min(1.0, std::max(value + half, score.upper))}};
}

GroupFigures figures_of(const GroupCounts& g) {
  const std::size_t classes = g.confusion.size();
  const auto any = [](std::size_t, std::size_t) { return true; };
  GroupFigures f{.group = g.group};
  for (const auto& row : g.confusion)
    for (const double count : row) f.rows += count;
  f.rows = std::max(0.0, f.rows);
  f.accuracy = rate(g, any, [](std::size_t t, std::size_t s) { return t == s; });
  for (std::size_t c = 0; c < classes; ++c)
    f.recalls.push_back(rate(
        g, [c](std::size_t t, std::size_t) { return t == c; },
        [c](std::size_t, std::size_t s) { return s == c; }));
  if (classes != 2) return f;
  const auto said = [](std::size_t, std::size_t s) { return s == 1; };
  f.selection_rate = rate(g, any, said);
  f.true_positive_rate = f.recalls[1];
  f.false_positive_rate = rate(
      g, [](std::size_t t, std::size_t) { return t == 0; }, said);
  f.calibration = g.calibration;
  return f;
}

// From the intervals of both: the distances to the near ends add up like standard deviations
// [New98].
Gap difference(const PrivateMetric& a, const PrivateMetric& b) {
  const double value = a.value - b.value;
  const double down = std::hypot(a.value - a.interval_95.lower, b.interval_95.upper - b.value);
  const double up = std::hypot(a.interval_95.upper - a.value, b.value - b.interval_95.lower);
  return {value, {std::max(0.0, value - down), value + up}, {}, {}};
}

std::optional<Gap> largest_gap(
    const std::vector<GroupFigures>& groups,
    const std::function<const std::optional<PrivateMetric>&(const GroupFigures&)>& figure) {
  const GroupFigures *most = nullptr, *least = nullptr;
  std::size_t known = 0;
  for (const GroupFigures& g : groups) {
    if (!figure(g)) continue;
    ++known;
    if (most == nullptr || figure(g)->value > figure(*most)->value) most = &g;
    if (least == nullptr || figure(g)->value < figure(*least)->value) least = &g;
  }
  if (known < 2) return std::nullopt;
  Gap gap = difference(*figure(*most), *figure(*least));
  gap.largest = most->group;
  gap.smallest = least->group;
  return gap;
}

std::optional<Gap> larger(const std::optional<Gap>& a, const std::optional<Gap>& b) {
  if (!a || !b) return a ? a : b;
  return a->value >= b->value ? a : b;
}

}  // namespace

std::optional<Gap> gap_of(const std::vector<GroupFigures>& groups,
                          std::optional<PrivateMetric> GroupFigures::*figure) {
  return largest_gap(groups, [&](const GroupFigures& g) -> const std::optional<PrivateMetric>& {
    return g.*figure;
  });
}

GroupReport gaps_between(std::vector<GroupFigures> groups) {
  GroupReport report;
  report.groups = std::move(groups);
  report.accuracy = gap_of(report.groups, &GroupFigures::accuracy);
  report.demographic_parity = gap_of(report.groups, &GroupFigures::selection_rate);
  report.true_positive_rate = gap_of(report.groups, &GroupFigures::true_positive_rate);
  report.false_positive_rate = gap_of(report.groups, &GroupFigures::false_positive_rate);
  report.calibration = gap_of(report.groups, &GroupFigures::calibration);
  report.privacy_cost = gap_of(report.groups, &GroupFigures::privacy_cost);
  const std::size_t classes = report.groups.empty() ? 0 : report.groups.front().recalls.size();
  for (std::size_t c = 0; c < classes; ++c)
    report.recalls.push_back(largest_gap(
        report.groups, [c](const GroupFigures& g) -> const std::optional<PrivateMetric>& {
          return g.recalls[c];
        }));
  if (classes == 2) {
    report.equalized_odds = larger(report.true_positive_rate, report.false_positive_rate);
  } else {
    for (const auto& recall : report.recalls)
      report.equalized_odds = larger(report.equalized_odds, recall);
  }
  if (report.accuracy) report.worst_group = report.accuracy->smallest;
  return report;
}

GroupReport group_report(const std::vector<GroupCounts>& groups) {
  std::vector<GroupFigures> figures;
  for (const GroupCounts& g : groups) figures.push_back(figures_of(g));
  GroupReport report = gaps_between(std::move(figures));
  const std::size_t classes = groups.empty() ? 0 : groups.front().confusion.size();
  GroupCounts all;
  for (const GroupCounts& g : groups) {
    if (all.confusion.empty()) {
      all = g;
      continue;
    }
    all.sigma = std::hypot(all.sigma, g.sigma);
    for (std::size_t t = 0; t < classes; ++t)
      for (std::size_t s = 0; s < classes; ++s) all.confusion[t][s] += g.confusion[t][s];
  }
  if (groups.empty()) return report;
  const GroupFigures whole = figures_of(all);
  report.class_recalls = whole.recalls;
  for (std::size_t c = 0; c < classes; ++c)
    if (whole.recalls[c] && (!report.worst_class_recall ||
                             whole.recalls[c]->value < report.worst_class_recall->value)) {
      report.worst_class = c;
      report.worst_class_recall = whole.recalls[c];
    }
  return report;
}

std::vector<GroupCounts> group_counts(const std::vector<ScoredRow>& rows, std::size_t classes,
                                      const std::vector<std::string>& groups) {
  std::vector<GroupCounts> counts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    counts.push_back({.group = groups[g], .confusion = confusion_of(rows, classes, g)});
    if (classes != 2) continue;
    double n = 0, sum = 0, squares = 0;
    for (const ScoredRow& row : rows) {
      if (row.null || row.group != g || row.probabilities.size() != 2) continue;
      const double excess = row.probabilities[1] - (row.target == 1 ? 1 : 0);
      n += 1, sum += excess, squares += excess * excess;
    }
    if (n < 2) continue;
    const double mean = sum / n;
    const double half = 1.96 * std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
    counts.back().calibration = PrivateMetric{mean, {mean - half, mean + half}};
  }
  return counts;
}

std::vector<GroupCounts> group_counts(const PrivateEvaluation& evaluation,
                                      const std::vector<std::string>& groups) {
  std::vector<GroupCounts> counts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PrivateQuality& q = evaluation.groups.empty() ? evaluation.all : evaluation.groups[g];
    counts.push_back({.group = groups[g],
                      .confusion = q.confusion,
                      .sigma = q.sigma,
                      .z = q.z,
                      .calibration = q.calibration});
  }
  return counts;
}

}  // namespace sotto
