#include "sotto/models/synthesis/detail/dependence_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sotto {
namespace {

constexpr double kTargetImportance = 8, kTripleImportance = 8;
constexpr double kDoubt = 1;  // deviations of its noise by which a score is believed less
// few: the same of pairs without the target, the best of many, whose scores are often luck.
constexpr double kDoubtOfOthers = 4;

class DependenceSearch {
 public:
  explicit DependenceSearch(const SynthesisSetting& setting) : s_(setting) {}

  // The pairs that are looked at: all of them; or, on the route few, those with the target, all or
  // the best by the exponential mechanism, and the best of the others.
  std::vector<ColumnPair> candidates(const PairQueries& ask, Source& source, Rng& rng) const {
    std::vector<ColumnPair> with, without, all;
    for (std::uint32_t a = 0; a < s_.columns.columns(); ++a) {
      for (std::uint32_t b = a + 1; b < s_.columns.columns(); ++b) {
        all.emplace_back(a, b);
        (ask.with_target({a, b}) ? with : without).emplace_back(a, b);
      }
    }
    if (s_.design.route == PairRoute::many) return all;
    std::vector<ColumnPair> chosen;
    const auto take = [&](const TopKPlan& plan, const std::vector<ColumnPair>& pairs,
                          const std::vector<int128>& steps) {
      std::vector<double> scores;
      for (const int128 s : steps) scores.push_back(static_cast<double>(s) / kScoreSteps);
      for (const std::size_t i : plan.run(scores, rng).value) chosen.push_back(pairs[i]);
    };
    if (s_.design.all_targets) chosen = with;
    if (s_.mechanisms.targets())
      take(*s_.mechanisms.targets(), with, ask.from_target(source, with));
    if (s_.mechanisms.others()) take(*s_.mechanisms.others(), without, ask.apart(source, without));
    return chosen;
  }

  // The triples that are looked at, by the exponential mechanism, and how much each of them holds
  // that neither columns nor pairs do, by a noisy score.
  std::vector<TripleCandidate> triples(const TripleQueries& ask, const PairQueries& ask_pairs,
                                       Source& source, Rng& rng,
                                       const std::vector<PairCandidate>& pairs,
                                       double total) const {
    std::vector<TripleCandidate> made;
    if (!s_.mechanisms.triples()) return made;
    const std::size_t d = s_.columns.columns();
    std::vector<double> dependence(d * d);
    for (const PairCandidate& c : pairs)
      dependence[c.columns.first * d + c.columns.second] = c.dependence;
    for (const ColumnPair& pair : ask_pairs.with_trend())
      dependence[pair.first * d + pair.second] =
          std::hypot(dependence[pair.first * d + pair.second], ask_pairs.trend_apart(pair));
    // Two columns that depend on each other, and the target on one of them: that looks like
    // something of all three. The records of it, about.
    const auto chained = [&](const ColumnTriple& t) {
      double own = 0, with_target = 0;
      for (const auto& [a, b] : {std::pair{t[0], t[1]}, {t[0], t[2]}, {t[1], t[2]}})
        (s_.columns.target() == a || s_.columns.target() == b ? with_target : own) +=
            dependence[a * d + b];
      return own * with_target / total;
    };
    const std::vector<ColumnTriple> all = ask.all();
    const std::vector<int128> exact = ask.together(source, all);
    std::vector<double> scores;
    for (std::size_t i = 0; i < all.size(); ++i)
      scores.push_back(less_public_part(exact[i], chained(all[i]) / ask.scale(all[i])));
    std::vector<ColumnTriple> chosen;
    for (const std::size_t i : s_.mechanisms.triples()->run(scores, rng).value)
      chosen.push_back(all[i]);

    const LatticeNoise& noise = *s_.mechanisms.triple_scores();
    const std::vector<double> noisy = s_.noised(noise, ask.together(source, chosen), rng);
    const double doubt = s_.is_private ? kDoubt * *noise.info().standard_deviation : 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      // What chance leaves between the records is nothing that a model could learn.
      const double seen =
          std::max(0.0, (noisy[i] - doubt) * ask.scale(chosen[i]) - chained(chosen[i]));
      const double chance = chance_of(chosen[i], ask, total);
      made.push_back({.columns = chosen[i],
                      .dependence = std::sqrt(std::max(0.0, seen * seen - chance * chance)),
                      .cells = static_cast<double>(ask.cells(chosen[i])),
                      .importance = kTripleImportance});
    }
    return made;
  }

  // How far each of these is from independence, by a noisy score.
  std::vector<PairCandidate> scored(const PairQueries& ask, Source& source, Rng& rng,
                                    const std::vector<ColumnPair>& pairs,
                                    const SynthesisModel& model) const {
    const std::vector<double> noisy =
        s_.noised(*s_.mechanisms.scores(), ask.apart(source, pairs), rng);
    const double noise = s_.is_private ? *s_.mechanisms.scores()->info().standard_deviation : 0;
    std::vector<PairCandidate> made;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      // What the noise of the columns alone would show is no dependence.
      const bool lucky = s_.design.route == PairRoute::few && !ask.with_target(pairs[i]);
      const double seen = std::max(0.0, noisy[i] - (lucky ? kDoubtOfOthers : kDoubt) * noise),
                   blur = blur_of(pairs[i], model);
      made.push_back({.columns = pairs[i],
                      .dependence = std::sqrt(std::max(0.0, seen * seen - blur * blur)),
                      .cells = static_cast<double>(ask.cells(pairs[i])),
                      .importance = ask.with_target(pairs[i]) ? kTargetImportance : 1});
    }
    return made;
  }

  // Σ |M − n·p·q·r| that is expected of independent records.
  static double chance_of(const ColumnTriple& triple, const TripleQueries& ask, double total) {
    double roots = 1;
    for (const std::uint32_t j : triple) {
      double sum = 0;
      for (const double p : ask.shares(j)) sum += std::sqrt(p);
      roots *= sum;
    }
    return kMeanAbsoluteNormal * std::sqrt(total) * roots;
  }

  // Σ |n·p·q − E| that the noise of p and q makes expected.
  static double blur_of(const ColumnPair& pair, const SynthesisModel& model) {
    const Marginal &a = model.measured[pair.first], &b = model.measured[pair.second];
    double sum = 0;
    const std::vector<double> q = level_shares(b, model.total);
    for (const double x : level_shares(a, model.total))
      for (const double y : q) sum += std::hypot(y * a.deviation, x * b.deviation);
    return kMeanAbsoluteNormal * sum;
  }

  const SynthesisSetting& s_;
};

}  // namespace

Looked looked_at(const SynthesisSetting& setting, const PairQueries& pairs,
                 const TripleQueries& triples, Source& source, Rng& rng,
                 const SynthesisModel& model) {
  const DependenceSearch search(setting);
  Looked looked;
  looked.pairs = search.scored(pairs, source, rng, search.candidates(pairs, source, rng), model);
  looked.triples = search.triples(triples, pairs, source, rng, looked.pairs, model.total);
  return looked;
}

}  // namespace sotto
