#include "sotto/models/tree/tree_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/mechanisms/selection.hpp"
#include "sotto/models/tree/detail/node_statistics.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {
namespace {

constexpr double kLeafShare = 0.1;
constexpr double kGrowth = 1.33;  // of a level's share over that of the level above

// The budget of each level, as fractions of the whole.
std::vector<double> level_shares(std::size_t depth) {
  std::vector<double> shares(depth);
  double total = 0, next = 1;
  for (double& share : shares) {
    total += share = next;
    next *= kGrowth;
  }
  for (double& share : shares) share *= (1 - kLeafShare) * (1 - 0x1p-40) / total;
  return shares;
}

// What the budget allows: the choice of a node at each level, and the noise of the leaves.
struct Mechanisms {
  double moves;  // contributions that neighbours differ by
  std::vector<SelectionPlan> choices;
  LatticeNoise leaves;

  Mechanisms(const Facts& facts, const Budget& budget, std::size_t depth, std::size_t figures)
      : moves(contribution_factor(facts.relation) * static_cast<double>(facts.contributions)),
        leaves(noise(facts, budget, depth, figures)) {
    for (const double share : level_shares(depth)) {
      const Budget level = budget.part(share);
      const double epsilon =
          budget.is_pure() ? level.pure_epsilon() : level.bounded_range_epsilon();
      // One record added to a node: the plan of add_remove. What neighbours differ by is in event().
      choices.emplace_back(SelectionOptions{
          .relation = Relation::add_remove,
          .sensitivity = NodeStatistics::kScoreSensitivity,
          .budget = Budget::pure(epsilon / moves),
          .selector = budget.is_pure() ? Selector::permute_and_flip : Selector::exponential,
          .monotonic = true});
    }
  }

  Event event() const {
    std::vector<Event> all;
    for (const SelectionPlan& choice : choices) {
      const double epsilon =
          std::nextafter(choice.epsilon() * moves, std::numeric_limits<double>::infinity());
      if (leaves.gaussian()) {
        all.push_back(ExponentialEvent{.epsilon = epsilon});
      } else {
        all.push_back(PureEvent{.epsilon = epsilon});
      }
    }
    all.push_back(leaves.event());
    return compose(std::move(all));
  }

 private:
  static LatticeNoise noise(const Facts& facts, const Budget& budget, std::size_t depth,
                            std::size_t figures) {
    const double moved =
        contribution_factor(facts.relation) * static_cast<double>(facts.contributions);
    // A class: one count. A number: (1, y), of length √2 and ℓ1 length 2.
    const bool number = facts.classes().empty();
    const double unit = static_cast<double>(NodeStatistics::kUnit);
    const double l1 = moved * (number ? 2 : 1) * unit,
                 l2 = moved * (number ? std::nextafter(std::sqrt(2.0), 2.0) : 1) * unit;
    return {facts.relation,
            budget.part(kLeafShare),
            1 / unit,
            {.l1 = std::nextafter(l1, 2 * l1), .l2 = std::nextafter(l2, 2 * l2)},
            (std::size_t{1} << depth) * figures};
  }
};

class TreeTraining final : public TrainingPlan {
 public:
  TreeTraining(const Facts& facts, const TrainingRequest& request)
      : facts_(facts),
        columns_(*facts.encoder),
        statistics_(columns_, facts.classes().size()),
        depth_(request.options.whole("depth")),
        answers_(facts.classes().empty() ? 2 : facts.classes().size()) {
    if (request.method == "none") return;
    const Budget& budget = required_budget(request);
    if (budget.is_pure()) {
      mechanisms_.emplace(facts, budget, depth_, answers_);
    } else {
      mechanisms_.emplace(facts,
                          confirmed(budget, facts.relation,
                                    [&](const Budget& b) {
                                      return Mechanisms(facts, b, depth_, answers_).event();
                                    }),
                          depth_, answers_);
    }
  }

  std::optional<Event> event() const override {
    return mechanisms_ ? std::optional(mechanisms_->event()) : std::nullopt;
  }
  Relation relation() const override { return facts_.relation; }

  Explanation explain() const override {
    Explanation e{.method = mechanisms_ ? "exponential" : "none"};
    e.words = fmt::format("a tree of depth {}: each node asks one of {} questions", depth_,
                          statistics_.candidates().size());
    if (mechanisms_)
      e.words += fmt::format(
          ", chosen by {}; leaves with {} noise of scale {:.4g}",
          mechanisms_->leaves.gaussian() ? "the exponential mechanism" : "permute and flip",
          mechanisms_->leaves.gaussian() ? "Gaussian" : "Laplace", mechanisms_->leaves.scale());
    return e;
  }

  TrainedModel run(Source& source, Rng& rng, RunControl& control) override {
    source.keep();
    std::unique_ptr<Model> model = tree_predictor(grow(source, rng, control), facts_);
    if (!mechanisms_) return Unprotected<std::unique_ptr<Model>>{std::move(model)};
    return Release<std::unique_ptr<Model>>(
        std::move(model), Spent{mechanisms_->event(), facts_.relation, explain().words});
  }

 private:
  struct Spent {
    Event spent;
    Relation of;
    std::string words;
    Event event() const { return spent; }
    Relation relation() const { return of; }
    std::string describe() const { return words; }
  };

  TreeModel grow(Source& source, Rng& rng, RunControl& control) const {
    Progress progress(control.shown(depth_));
    TreeModel tree{.depth = depth_};
    for (std::size_t level = 0; level < depth_; ++level) {
      const std::vector<int128> sums = statistics_.collect(source, tree, level);
      for (std::size_t node = 0; node < std::size_t{1} << level; ++node) {
        const std::vector<double> scores = statistics_.scores(sums, node);
        const std::size_t best =
            mechanisms_ ? mechanisms_->choices[level].run(scores, rng).value
                        : static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                                   scores.begin());
        tree.questions.push_back(statistics_.candidates()[best]);
      }
      progress.advance(level + 1);
    }
    tree.answers = answers(source, tree, rng);
    progress.finish();
    return tree;
  }

  std::vector<std::vector<double>> answers(Source& source, const TreeModel& tree, Rng& rng) const {
    const std::size_t leaves = std::size_t{1} << depth_, kept = statistics_.figures();
    const bool number = facts_.classes().empty();
    std::vector<int128> sums =
        source.sum(leaves * answers_, [&](const Table& block, std::span<int128> total) {
          std::vector<BinnedColumns::Cell> cells(columns_.columns());
          std::vector<int128> figures(kept);
          for (std::size_t i = 0; i < block.rows(); ++i) {
            if (block.is_null(i)) continue;
            columns_.read(block, i, cells);
            const std::size_t leaf = tree.leaf(columns_, cells, depth_);
            std::fill(figures.begin(), figures.end(), int128{0});
            statistics_.add(block.targets()[i], figures);
            for (std::size_t k = 0; k < answers_; ++k)
              total[leaf * answers_ + k] +=
                  number && k == 1 ? figures[k] : figures[k] * NodeStatistics::kUnit;
          }
        });
    double noise = 0;
    if (mechanisms_) {
      sums = mechanisms_->leaves.add(sums, rng);
      noise = mechanisms_->leaves.scale() * (mechanisms_->leaves.gaussian() ? 1 : std::sqrt(2.0));
    }
    const auto natural = [&](std::size_t i) {
      return static_cast<double>(sums[i]) / static_cast<double>(NodeStatistics::kUnit);
    };
    std::vector<std::vector<double>> result(leaves);
    std::vector<double> whole(answers_, number ? 0.0 : 1.0);
    for (std::size_t i = 0; i < sums.size(); ++i) whole[i % answers_] += natural(i);
    for (double& w : whole) w = number ? w : std::max(w, 1.0);
    double total = 0;
    for (const double w : whole) total += w;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      const std::size_t at = leaf * answers_;
      if (number) {
        const double mean = whole[0] > 1 ? whole[1] / whole[0] : 0;
        const double count = std::max(0.0, natural(at)) + 1 + noise;
        result[leaf] = {std::clamp((natural(at + 1) + (1 + noise) * mean) / count, -1.0, 1.0)};
        continue;
      }
      std::vector<double> shares(answers_);
      double all = 0;
      for (std::size_t k = 0; k < answers_; ++k)
        all += shares[k] = std::max(0.0, natural(at + k)) + (1 + noise) * whole[k] / total;
      for (double& share : shares) share /= all;
      result[leaf] = std::move(shares);
    }
    return result;
  }

  Facts facts_;
  BinnedColumns columns_;
  NodeStatistics statistics_;
  std::size_t depth_, answers_;
  std::optional<Mechanisms> mechanisms_;
};

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // a tree has bins of its own
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  check_target(facts, facts.classes().empty() ? Task::regress : Task::classify, "tree", "linear");
  return std::make_unique<TreeTraining>(facts, request);
}

}  // namespace

Family tree_family() {
  return {.name = "tree",
          .title = "Decision trees",
          .kinds = {{"tree", {Task::classify, Task::regress}, "one decision tree, easy to read"}},
          .methods = {{"exponential", "questions by the exponential mechanism", {"depth"}},
                      {"none", "no noise: NOT PRIVATE", {"depth"}}},
          .options = {{.name = "depth",
                       .type = OptionType::whole,
                       .value = "D",
                       .help = "questions from the root to a leaf",
                       .fallback = "4",
                       .range = Range::between(1, 12)}},
          .prepare = prepare,
          .plan = plan,
          .load = load_tree};
}

}  // namespace sotto
