// Detail: a decision tree of fixed depth: every inner node asks one question, every leaf has an
// answer.
//
// Nodes are numbered as in a heap: the children of node i are 2i + 1 (no) and 2i + 2 (yes). A
// question is "is the number at or above the start of this bin" or "is the category this one".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/models/kernel/detail/binned_columns.hpp"

namespace sotto {

struct Question {
  std::uint32_t column = 0, level = 0;
  friend bool operator==(const Question&, const Question&) = default;
};

struct TreeModel {
  std::size_t depth = 0;
  std::vector<Question> questions = {};           // 2^depth − 1
  std::vector<std::vector<double>> answers = {};  // 2^depth: shares of the classes, or one number

  // The leaf, 0 … 2^depth − 1, or with fewer levels the node at that depth, counted from the left.
  std::size_t leaf(const BinnedColumns& columns, std::span<const BinnedColumns::Cell> cells,
                   std::size_t levels) const;
};

// As a model of the shelf: the mean of what the trees answer. Throws DataError when a tree does not
// fit the encoder.
std::unique_ptr<Model> tree_predictor(std::vector<TreeModel> trees, const Facts& facts);
// One tree, or a forest.
std::unique_ptr<Model> load_trees(const Files& files, Facts& facts);

}  // namespace sotto
