// What a model looks like, for people: trees of questions, or what each column adds. Plain data
// that a report draws; it shows nothing but what the model holds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

struct PortraitTree {
  struct Node {
    std::string text;                              // a question, or an answer
    std::optional<std::size_t> no = {}, yes = {};  // none of an answer
  };
  std::vector<Node> nodes = {};  // the first is the root
};

// What one column adds to the margin of a class, or to the number that is predicted.
struct PortraitCurve {
  std::string column, of;  // of: the class; empty: there is only one curve
  struct Point {
    double x, value, spread;  // spread: two standard deviations of the noise
    std::string label = {};   // of a category
  };
  std::vector<Point> points = {};
};

struct Portrait {
  std::vector<PortraitTree> trees = {};
  std::vector<PortraitCurve> curves = {};
  bool empty() const { return trees.empty() && curves.empty(); }
};

}  // namespace sotto
