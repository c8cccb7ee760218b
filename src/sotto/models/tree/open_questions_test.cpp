#include "sotto/models/tree/detail/open_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/models/tree/tree_family.hpp"

namespace sotto::open_questions_test {

Schema schema(const std::string& features) {
  return Schema::from_toml("relation = \"add_remove\"\nrows = 40\n" + features +
                           "[columns.y]\nrole = \"target\"\ntype = \"categorical\"\n"
                           "values = [\"0\", \"1\"]\n");
}

const std::string kBoolean = "[columns.t]\ntype = \"boolean\"\n";
// A number between other columns, a boolean that is never missing and one that may be, categories
// with "other" and without, one of which has a single value.
const std::string kFeatures = kBoolean +
                              "[columns.a]\ntype = \"numeric\"\nbounds = [0, 64]\n"
                              "[columns.m]\ntype = \"boolean\"\nmissing = \"midpoint\"\n"
                              "[columns.b]\ntype = \"categorical\"\nvalues = [\"u\", \"v\"]\n"
                              "[columns.one]\ntype = \"categorical\"\nvalues = [\"u\"]\n"
                              "missing = \"refuse\"\n";
const std::vector<std::uint32_t> kLevels = {2, BinnedColumns::kBins, 3, 3, 1};

// By brute force: every record there can be, at the node it comes to.
std::vector<std::vector<bool>> told_apart(const BinnedColumns& columns, const QuestionCells& cells,
                                          const TreeModel& tree, std::size_t depth) {
  const auto& all = cells.questions();
  std::vector<std::vector<bool>> yes(std::size_t{1} << depth, std::vector<bool>(all.size())),
      no = yes;
  std::size_t records = 1;
  for (const std::uint32_t levels : kLevels) records *= levels;
  std::vector<BinnedColumns::Cell> record(kLevels.size());
  for (std::size_t r = 0; r < records; ++r) {
    std::size_t rest = r;
    for (std::size_t j = 0; j < kLevels.size(); rest /= kLevels[j++])
      record[j].level = static_cast<std::uint32_t>(rest % kLevels[j]);
    const std::size_t node = tree.leaf(columns, record, depth);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint32_t level = record[all[i].column].level;
      const bool answer =
          columns.is_numeric(all[i].column) ? level >= all[i].level : level == all[i].level;
      (answer ? yes : no)[node][i] = true;
    }
  }
  for (std::size_t node = 0; node < yes.size(); ++node)
    for (std::size_t i = 0; i < all.size(); ++i) yes[node][i] = yes[node][i] && no[node][i];
  return yes;
}

TEST(OpenQuestions, AreThoseThatTellSomeRecordsOfTheNodeApart) {
  const Encoder encoder(schema(kFeatures));
  const BinnedColumns columns(encoder);
  const QuestionCells cells(columns);
  const auto& all = cells.questions();
  const auto of_categories = [&](std::size_t i) { return !columns.is_numeric(all[i].column); };
  std::mt19937 rng(5);
  std::size_t open = 0, one_column = 0;
  for (int round = 0; round < 40; ++round) {
    const std::size_t depth = static_cast<std::size_t>(round) % 7;
    TreeModel tree{.depth = depth};
    while (tree.questions.size() + 1 < std::size_t{1} << depth) {
      const std::size_t i = rng() % all.size();
      // Mostly about the categories, which run out.
      if (of_categories(i) || rng() % 30 == 0) tree.questions.push_back(all[i]);
    }
    const auto expected = told_apart(columns, cells, tree, depth);
    for (std::size_t node = 0; node < expected.size(); ++node) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (expected[node][i]) places.push_back(i);
      // A node that no record can come to: no promise but that it asks something.
      const OpenQuestions found(cells, tree, depth, node);
      if (places.empty()) {
        EXPECT_FALSE(found.places().empty());
        continue;
      }
      EXPECT_EQ(found.places(), places) << depth << ", node " << node;
      open += 1;
      one_column += found.columns().size() == 1;
    }
  }
  EXPECT_GT(open, 100u);
  EXPECT_GT(one_column, 10u);
}

TEST(OpenQuestions, AreAllWhereEveryAnswerIsKnown) {
  const Encoder encoder(schema(kBoolean));
  const BinnedColumns columns(encoder);
  const QuestionCells cells(columns);
  TreeModel tree{.depth = 2};
  tree.questions.assign(3, cells.questions()[0]);
  const std::vector<std::size_t> all = {0, 1};  // is it false, is it true
  for (std::size_t depth = 0; depth <= 2; ++depth)
    for (std::size_t node = 0; node < std::size_t{1} << depth; ++node)
      EXPECT_EQ(OpenQuestions(cells, tree, depth, node).places(), all);
}

// With next to no budget questions are chance, and yet none of them is idle.
TEST(OpenQuestions, NoMethodAsksWhatItKnows) {
  for (const std::string method : {"exponential", "histogram", "sulq", "random"}) {
    const TrainingRequest asked{.kind = "tree",
                                .method = method,
                                .budget = Budget::pure(0.01),
                                .options = OptionValues(options_of(tree_family(), "tree"),
                                                        OptionValues::Raw{{"depth", {"6"}}})};
    const Facts facts = facts_for(tree_family(), schema(kFeatures), asked);
    const Table nothing(*facts.encoder);
    Rng rng = Rng::insecure_seed(9);
    const TrainedModel model =
        plan_training(tree_family(), facts, asked)->run(*table_in_memory(nothing), rng);
    const auto file = nlohmann::json::parse(model.value()->files().at("model.json"));
    TreeModel tree{.depth = 6};
    for (const auto& q : file.at("questions")) tree.questions.push_back({q.at(0), q.at(1)});
    const BinnedColumns columns(*facts.encoder);
    const QuestionCells cells(columns);
    std::size_t i = 0;
    for (std::size_t depth = 0; depth < 6; ++depth)
      for (std::size_t node = 0; node < std::size_t{1} << depth; ++node, ++i) {
        const std::vector<std::size_t> open = OpenQuestions(cells, tree, depth, node).places();
        EXPECT_TRUE(std::any_of(
            open.begin(), open.end(),
            [&](std::size_t place) { return cells.questions()[place] == tree.questions[i]; }))
            << method << ", node " << i;
      }
  }
}

}  // namespace sotto::open_questions_test
