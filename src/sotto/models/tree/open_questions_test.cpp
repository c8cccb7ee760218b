#include "sotto/models/tree/detail/open_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/models/tree/tree_family.hpp"

namespace sotto::open_questions_test {

Schema schema() {
  return Schema::from_toml(
      "relation = \"add_remove\"\nrows = 40\n"
      "[columns.a]\ntype = \"numeric\"\nbounds = [0, 64]\n"
      "[columns.b]\ntype = \"categorical\"\nvalues = [\"u\", \"v\", \"w\"]\n"
      "[columns.c]\ntype = \"boolean\"\n"
      "[columns.y]\nrole = \"target\"\ntype = \"categorical\"\nvalues = [\"0\", \"1\"]\n");
}

// By brute force: every record there can be, at the node it comes to.
std::vector<std::vector<bool>> told_apart(const BinnedColumns& columns, const QuestionCells& cells,
                                          const TreeModel& tree, std::size_t depth) {
  const auto& all = cells.questions();
  std::vector<std::vector<bool>> yes(std::size_t{1} << depth, std::vector<bool>(all.size())),
      no = yes;
  std::vector<BinnedColumns::Cell> record(columns.columns());
  for (record[0].level = 0; record[0].level < columns.levels(0); ++record[0].level)
    for (record[1].level = 0; record[1].level < columns.levels(1); ++record[1].level)
      for (record[2].level = 0; record[2].level < columns.levels(2); ++record[2].level) {
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
  const Encoder encoder(schema());
  const BinnedColumns columns(encoder);
  const QuestionCells cells(columns);
  const auto& all = cells.questions();
  std::mt19937 rng(5);
  std::size_t open = 0, known = 0;
  for (int round = 0; round < 40; ++round) {
    const std::size_t depth = static_cast<std::size_t>(round) % 6;
    TreeModel tree{.depth = depth};
    // Mostly about the categories, which run out.
    for (std::size_t i = 0; i + 1 < (std::size_t{1} << depth); ++i)
      tree.questions.push_back(
          all[rng() % 4 == 0 ? rng() % all.size() : all.size() - 1 - rng() % 5]);
    const auto expected = told_apart(columns, cells, tree, depth);
    for (std::size_t node = 0; node < expected.size(); ++node) {
      const bool none = std::none_of(expected[node].begin(), expected[node].end(),
                                     [](bool tells) { return tells; });
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (none || expected[node][i]) places.push_back(i);
      // A node that no record can come to may ask anything.
      const std::vector<std::size_t> found = open_questions(cells, tree, depth, node);
      if (none) {
        EXPECT_FALSE(found.empty());
      } else {
        EXPECT_EQ(found, places) << depth << ", node " << node;
      }
      (none ? known : open) += 1;
    }
  }
  EXPECT_GT(open, 100u);
  EXPECT_GT(known, 10u);
}

// With next to no budget questions are chance, and yet none of them is idle.
TEST(OpenQuestions, NoMethodAsksWhatItKnows) {
  for (const std::string method : {"exponential", "histogram", "sulq", "random"}) {
    const TrainingRequest asked{.kind = "tree",
                                .method = method,
                                .budget = Budget::pure(0.01),
                                .options = OptionValues(options_of(tree_family(), "tree"),
                                                        OptionValues::Raw{{"depth", {"6"}}})};
    const Facts facts = facts_for(tree_family(), schema(), asked);
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
        const std::vector<std::size_t> open = open_questions(cells, tree, depth, node);
        EXPECT_TRUE(std::any_of(
            open.begin(), open.end(),
            [&](std::size_t place) { return cells.questions()[place] == tree.questions[i]; }))
            << method << ", node " << i;
      }
  }
}

}  // namespace sotto::open_questions_test
