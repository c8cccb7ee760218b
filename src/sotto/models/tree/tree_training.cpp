#include "sotto/models/tree/detail/tree_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/mechanisms/selection.hpp"
#include "sotto/models/tree/detail/node_statistics.hpp"
#include "sotto/models/tree/detail/noisy_gains.hpp"
#include "sotto/models/tree/detail/open_questions.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {
namespace {

constexpr double kGrowth = 1.33;  // of a level's share over that of the level above

double leaf_share(TreeMethod method) {
  switch (method) {
    case TreeMethod::exponential: return 0.1;
    case TreeMethod::histogram:
    case TreeMethod::sulq: return 0.2;
    case TreeMethod::random: break;
  }
  return 1;
}

// The budget of each level, as fractions of the whole.
std::vector<double> level_shares(const TreeOptions& options) {
  if (options.method == TreeMethod::random) return {};
  std::vector<double> shares(options.depth);
  double total = 0, next = 1;
  for (double& share : shares) {
    total += share = next;
    next *= kGrowth;
  }
  for (double& share : shares) share *= (1 - leaf_share(options.method)) * (1 - 0x1p-40) / total;
  return shares;
}

// What the budget allows: how the questions of each level are found, and the noise of the leaves.
struct Mechanisms {
  double moves;                        // contributions that neighbours differ by
  std::vector<SelectionPlan> choices;  // of a node at each level: exponential
  std::vector<LatticeNoise> counts;    // of all nodes of each level: histogram, sulq
  LatticeNoise leaves;

  Mechanisms(const Facts& facts, const Budget& budget, const TreeOptions& options,
             const BinnedColumns& columns)
      : moves(contribution_factor(facts.relation) * static_cast<double>(facts.contributions)),
        leaves(noise(facts, budget.part(leaf_share(options.method)),
                     options.disjoint ? 1 : options.trees,
                     options.trees * (std::size_t{1} << options.depth))) {
    std::size_t nodes = options.trees;
    for (const double share : level_shares(options)) {
      const Budget level = budget.part(share);
      if (options.method == TreeMethod::exponential) {
        const double epsilon =
            budget.is_pure() ? level.pure_epsilon() : level.bounded_range_epsilon();
        // One record added to a node: the plan of add_remove. What neighbours differ by is in
        // event().
        choices.emplace_back(SelectionOptions{
            .relation = Relation::add_remove,
            .sensitivity = std::nextafter(NodeStatistics::kScoreSensitivity * moves, 2 * moves),
            .budget = Budget::pure(epsilon),
            .selector = budget.is_pure() ? Selector::permute_and_flip : Selector::exponential,
            .monotonic = true});
      } else {
        counts.push_back(
            noise(facts, level, columns.columns(), nodes * QuestionCells(columns).size()));
      }
      nodes *= 2;
    }
  }

  Event event() const {
    std::vector<Event> all;
    for (const SelectionPlan& choice : choices) {
      const double epsilon =
          std::nextafter(choice.epsilon(), std::numeric_limits<double>::infinity());
      if (leaves.gaussian()) {
        all.push_back(ExponentialEvent{.epsilon = epsilon});
      } else {
        all.push_back(PureEvent{.epsilon = epsilon});
      }
    }
    for (const LatticeNoise& level : counts) all.push_back(level.event());
    all.push_back(leaves.event());
    return compose(std::move(all));
  }

 private:
  // A record in `touched` cells of `cells`. A class: one count. A number: (1, y), of length √2 and
  // ℓ1 length 2.
  static LatticeNoise noise(const Facts& facts, const Budget& budget, std::size_t touched,
                            std::size_t cells) {
    const double moved =
        contribution_factor(facts.relation) * static_cast<double>(facts.contributions);
    const std::size_t classes = facts.classes().size();
    const double unit = static_cast<double>(NodeStatistics::kUnit),
                 each = static_cast<double>(touched) * (classes == 0 ? 2 : 1);
    const double l1 = moved * each * unit,
                 l2 = moved * std::nextafter(std::sqrt(each), 2 * each) * unit;
    return {facts.relation,
            budget,
            1 / unit,
            {.l1 = std::nextafter(l1, 2 * l1), .l2 = std::nextafter(l2, 2 * l2)},
            cells * (classes == 0 ? 2 : classes)};
  }
};

const char* name(TreeMethod method) {
  switch (method) {
    case TreeMethod::exponential: return "exponential";
    case TreeMethod::histogram: return "histogram";
    case TreeMethod::sulq: return "sulq";
    case TreeMethod::random: return "random";
  }
  return "";
}

class TreeTraining final : public TrainingPlan {
 public:
  TreeTraining(const Facts& facts, const TrainingRequest& request, const TreeOptions& options)
      : facts_(facts),
        columns_(*facts.encoder),
        statistics_(columns_, facts.classes().size()),
        options_(options),
        answers_(facts.classes().empty() ? 2 : facts.classes().size()) {
    if (request.method == "none") return;
    const auto with = [&](const Budget& b) { return Mechanisms(facts, b, options, columns_); };
    const Budget& budget = required_budget(request);
    mechanisms_ =
        with(budget.is_pure() ? budget : confirmed(budget, facts.relation, [&](const Budget& b) {
          return with(b).event();
        }));
  }

  std::optional<Event> event() const override {
    return mechanisms_ ? std::optional(mechanisms_->event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = mechanisms_ ? name(options_.method) : "none"};
    e.words = options_.trees == 1
                  ? fmt::format("a tree of depth {}", options_.depth)
                  : fmt::format("{} trees of depth {}", options_.trees, options_.depth);
    if (options_.trees > 1)
      e.words += options_.disjoint ? ", each of records of its own" : ", each of all records";
    e.words += fmt::format(": each node asks one of at most {} questions",
                           statistics_.candidates().size());
    if (!mechanisms_) return e;
    const bool gaussian = mechanisms_->leaves.gaussian();
    const char* const law = gaussian ? "Gaussian" : "Laplace";
    switch (options_.method) {
      case TreeMethod::exponential:
        e.words += fmt::format(", chosen by {}",
                               gaussian ? "the exponential mechanism" : "permute and flip");
        break;
      case TreeMethod::histogram:
      case TreeMethod::sulq:
        e.words +=
            fmt::format(", the best by counts with {} noise of scale {:.4g} at the last level", law,
                        mechanisms_->counts.back().scale());
        break;
      case TreeMethod::random: e.words += ", drawn at random"; break;
    }
    e.words +=
        fmt::format("; leaves with {} noise of scale {:.4g}", law, mechanisms_->leaves.scale());
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    return finished(tree_predictor(grow(BinnedRows(source, columns_), rng, control), facts_));
  }

 private:
  bool number() const { return facts_.classes().empty(); }

  std::vector<TreeModel> grow(const BinnedRows& records, Rng& rng, RunControl& control) const {
    Progress progress(control.shown(options_.depth));
    std::vector<TreeModel> trees(options_.trees, TreeModel{.depth = options_.depth});
    const Membership membership = options_.disjoint && options_.trees > 1
                                      ? Membership::one_of(options_.trees, rng)
                                      : Membership::all(options_.trees);
    for (std::size_t level = 0; level < options_.depth; ++level) {
      const std::vector<std::size_t> best = questions(records, trees, membership, level, rng);
      for (std::size_t i = 0; i < best.size(); ++i)
        trees[i >> level].questions.push_back(statistics_.candidates()[best[i]]);
      progress.advance(level + 1);
    }
    answer(records, trees, membership, rng);
    progress.finish();
    return trees;
  }

  // For each node of a level, tree by tree, which candidate it asks.
  std::vector<std::size_t> questions(const BinnedRows& records, const std::vector<TreeModel>& trees,
                                     const Membership& membership, std::size_t level,
                                     Rng& rng) const {
    std::vector<std::size_t> best(trees.size() << level);
    const auto open_at = [&](std::size_t node) {
      return OpenQuestions(statistics_.cells(), trees[node >> level], level,
                           node & ((std::size_t{1} << level) - 1));
    };
    if (options_.method == TreeMethod::random) {
      for (std::size_t node = 0; node < best.size(); ++node)
        best[node] = random_question(open_at(node), rng);
      return best;
    }
    const std::size_t width = statistics_.width();
    std::vector<int128> sums = statistics_.collect(records, trees, membership, level);
    const std::vector<double> noisy = mechanisms_ && !mechanisms_->counts.empty()
                                          ? noisy_counts(sums, mechanisms_->counts[level], rng)
                                          : std::vector<double>{};
    for (std::size_t node = 0; node < best.size(); ++node) {
      std::vector<double> scores;
      if (noisy.empty()) {
        scores = statistics_.scores(std::span<const int128>(sums).subspan(node * width, width));
      } else {
        const std::size_t cells = statistics_.cells().size() * answers_;
        const LatticeNoise& level_noise = mechanisms_->counts[level];
        scores = noisy_gains(
            statistics_.cells(), std::span<const double>(noisy).subspan(node * cells, cells),
            answers_, number(),
            options_.method == TreeMethod::sulq ? Criterion::information : Criterion::gini,
            level_noise.scale() * (level_noise.gaussian() ? 1 : std::sqrt(2.0)));
      }
      const std::vector<std::size_t> open = open_at(node).places();
      for (std::size_t i = 0; i < open.size(); ++i) scores[i] = scores[open[i]];
      scores.resize(open.size());
      best[node] =
          open.at(mechanisms_ && noisy.empty()
                      ? mechanisms_->choices[level].run(scores, rng).value
                      : static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                                 scores.begin()));
    }
    return best;
  }

  // A column first, so that none is asked more often because it has more levels.
  static std::size_t random_question(const OpenQuestions& open, Rng& rng) {
    const std::size_t column = open.columns()[rng.next_u64() % open.columns().size()];
    return open.place(column, rng.next_u64() % open.size(column));
  }

  // Counts of classes, or count and Σy, which are the figures but for Σy².
  std::vector<double> noisy_counts(const std::vector<int128>& sums, const LatticeNoise& noise,
                                   Rng& rng) const {
    const std::size_t kept = statistics_.figures();
    std::vector<int128> counts;
    counts.reserve(noise.dimension());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (i % kept >= answers_) continue;
      counts.push_back(number() && i % kept == 1 ? sums[i] : sums[i] * NodeStatistics::kUnit);
    }
    counts = noise.add(counts, rng);
    std::vector<double> natural(counts.size());
    for (std::size_t i = 0; i < natural.size(); ++i)
      natural[i] = static_cast<double>(counts[i]) / static_cast<double>(NodeStatistics::kUnit);
    return natural;
  }

  void answer(const BinnedRows& records, std::vector<TreeModel>& trees,
              const Membership& membership, Rng& rng) const {
    const std::size_t leaves = std::size_t{1} << options_.depth;
    std::vector<int128> sums =
        records.sum(trees.size() * leaves * answers_, [&](std::size_t row, auto cells, auto total) {
          const auto target = static_cast<double>(records.target(row));
          std::array<std::int64_t, 3> number_of = {};
          if (number()) statistics_.add(target, number_of);
          membership.each(cells, target, [&](std::size_t tree) {
            const std::size_t leaf =
                (tree * leaves + trees[tree].leaf(columns_, cells, options_.depth)) * answers_;
            if (number()) {
              total[leaf] += NodeStatistics::kUnit;
              total[leaf + 1] += number_of[1];
            } else {
              statistics_.add(target, total.subspan(leaf, answers_));
            }
          });
        });
    if (!number())
      for (int128& count : sums) count *= NodeStatistics::kUnit;
    double noise = 0;
    if (mechanisms_) {
      sums = mechanisms_->leaves.add(sums, rng);
      noise = mechanisms_->leaves.scale() * (mechanisms_->leaves.gaussian() ? 1 : std::sqrt(2.0));
    }
    std::vector<double> natural(sums.size());
    for (std::size_t i = 0; i < natural.size(); ++i)
      natural[i] = static_cast<double>(sums[i]) / static_cast<double>(NodeStatistics::kUnit);
    // Of all leaves of all trees: the answer where there are no records.
    std::vector<double> whole(answers_, number() ? 0.0 : 1.0);
    for (std::size_t i = 0; i < natural.size(); ++i) whole[i % answers_] += natural[i];
    for (double& w : whole) w = number() ? w : std::max(w, 1.0);
    for (std::size_t i = 0; i < trees.size() * leaves; ++i)
      trees[i / leaves].answers.push_back(answer_of(
          std::span<const double>(natural).subspan(i * answers_, answers_), whole, 1 + noise));
  }

  // drawn: with the weight of how many records it is drawn to that of the whole.
  std::vector<double> answer_of(std::span<const double> leaf, const std::vector<double>& whole,
                                double drawn) const {
    if (number()) {
      const double mean = whole[0] > 1 ? whole[1] / whole[0] : 0;
      const double count = std::max(0.0, leaf[0]) + drawn;
      return {std::clamp((leaf[1] + drawn * mean) / count, -1.0, 1.0)};
    }
    double total = 0, all = 0;
    for (const double w : whole) total += w;
    std::vector<double> shares(leaf.size());
    for (std::size_t k = 0; k < shares.size(); ++k)
      all += shares[k] = std::max(0.0, leaf[k]) + drawn * whole[k] / total;
    for (double& share : shares) share /= all;
    return shares;
  }

  Facts facts_;
  BinnedColumns columns_;
  NodeStatistics statistics_;
  TreeOptions options_;
  std::size_t answers_;
  std::optional<Mechanisms> mechanisms_;
};

}  // namespace

std::unique_ptr<TrainingPlan> tree_training(const Facts& facts, const TrainingRequest& request,
                                            const TreeOptions& options) {
  return std::make_unique<TreeTraining>(facts, request, options);
}

}  // namespace sotto
