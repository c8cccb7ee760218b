#include "sotto/local/server/prefixes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto::local {

PrefixAggregator::PrefixAggregator(const LeveledHash& leveled)
    : Aggregator(leveled.levels() * leveled.hash().seeds() * leveled.hash().buckets()),
      leveled_(leveled) {}

bool PrefixAggregator::accepts(Bytes report) const {
  const LocalHash& h = leveled_.hash();
  if (report.size() != leveled_.report_bytes()) return false;
  const Bytes rest = report.subspan(1);
  return report[0] >= 1 && report[0] <= leveled_.levels() && h.seed(rest) < h.seeds() &&
         h.reported(rest) < h.buckets();
}

void PrefixAggregator::count(Bytes report) {
  const LocalHash& h = leveled_.hash();
  const Bytes rest = report.subspan(1);
  ++cells_[((report[0] - 1u) * h.seeds() + h.seed(rest)) * h.buckets() + h.reported(rest)];
}

std::uint64_t PrefixAggregator::reports_at(std::uint64_t level) const {
  const std::uint64_t size = leveled_.hash().seeds() * leveled_.hash().buckets();
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < size; ++i) sum += cells_[(level - 1) * size + i];
  return static_cast<std::uint64_t>(sum);
}

PrefixAggregator::Share PrefixAggregator::share(std::uint64_t level, std::uint64_t key) const {
  const LocalHash& h = leveled_.hash();
  const auto n = static_cast<double>(reports_at(level));
  if (n == 0) return {0, std::numeric_limits<double>::infinity()};
  double supporting = 0;
  for (std::uint64_t s = 0; s < h.seeds(); ++s)
    supporting +=
        static_cast<double>(cells_[((level - 1) * h.seeds() + s) * h.buckets() + h.place(s, key)]);
  const double value = (supporting / n - h.q()) / (h.p() - h.q());
  // Functions are few: at their worst, as if all other clients had one value.
  const double f = std::clamp(value, 0.0, 1.0);
  const double common = 1 / (static_cast<double>(h.buckets() - 1) * static_cast<double>(h.seeds()));
  return {value, support_variance(h.p(), h.q(), f) / n + common};
}

// Reports of a level are of clients that were drawn from all n without putting back: the share F of
// disjoint nodes, F_l of them at level l, has the variance Σ F_l(1 − F_l)/n_l − F(1 − F)/n.
double PrefixAggregator::sampling_variance(const std::map<std::uint64_t, double>& by_level) const {
  double variance = 0, all = 0;
  for (const auto& [level, sum] : by_level) {
    const double f = std::clamp(sum, 0.0, 1.0);
    variance += f * (1 - f) / static_cast<double>(reports_at(level));
    all += f;
  }
  const double f = std::clamp(all, 0.0, 1.0);
  return std::max(0.0, variance - f * (1 - f) / static_cast<double>(reports_));
}

PrefixAggregator::Share PrefixAggregator::range(std::uint64_t first, std::uint64_t last) const {
  if (first > last || last >= leveled_.categories())
    throw InvalidArgument("a range goes from one declared category to another");
  Share total{0, 0};
  std::map<std::uint64_t, double> by_level;
  std::uint64_t begin = first, end = last + 1;  // in units of nodes of the level
  for (std::uint64_t level = leveled_.levels(); begin < end; --level) {
    const auto add = [&](std::uint64_t node) {
      if (level == 0) {  // everybody
        total.value += 1;
        return;
      }
      const Share s = share(level, leveled_.node_key(level, node));
      total.value += s.value, total.variance += s.variance;
      by_level[level] += s.value;
    };
    if (level == 0) {
      add(0);
      break;
    }
    if (begin % 2 != 0) add(begin++);
    if (end % 2 != 0) add(--end);
    begin /= 2, end /= 2;
  }
  if (std::isfinite(total.variance)) total.variance += sampling_variance(by_level);
  return total;
}

std::vector<FoundWord> PrefixAggregator::heavy_hitters(const std::string& alphabet,
                                                       std::size_t most, double deviations) const {
  std::vector<FoundWord> found = {{"", 1, 0}};
  for (std::uint64_t level = 1; level <= leveled_.levels(); ++level) {
    std::vector<FoundWord> next;
    for (const FoundWord& prefix : found) {
      // A word that has ended has ended.
      const bool ended = !prefix.word.empty() && prefix.word.back() == '\0';
      for (const char c : ended ? std::string(1, '\0') : alphabet + '\0') {
        const std::string word = prefix.word + c;
        const Share s = share(level, leveled_.prefix_key(level, word));
        const double error = std::sqrt(
            s.variance + (std::isfinite(s.variance) ? sampling_variance({{level, s.value}}) : 0));
        if (s.value > deviations * error) next.push_back({word, s.value, error});
      }
    }
    std::sort(next.begin(), next.end(),
              [](const FoundWord& a, const FoundWord& b) { return a.share > b.share; });
    if (next.size() > most) next.resize(most);
    found = std::move(next);
  }
  for (FoundWord& f : found) f.word.resize(f.word.find_last_not_of('\0') + 1);
  return found;
}

}  // namespace sotto::local
