#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

constexpr double kLeastWeight = 1e-3;  // of the column that weighs the most, which is drawn as 1
constexpr std::size_t kMostFeatures = std::size_t{1} << 16;  // pairs of waves, trees

[[noreturn]] void damaged(const std::string& what) {
  throw DataError("the features of the model are damaged: " + what,
                  "restore the file from where the artifact was copied");
}

void check_numbers(const std::vector<double>& numbers, double low, double high, const char* what) {
  for (const double x : numbers)
    if (!(x >= low && x <= high)) damaged(what);
}

}  // namespace

json to_json(const FeatureDesign& design) {
  json j = {{"fourier", design.sizes.fourier},     {"trees", design.sizes.trees},
            {"main_part", design.sizes.main},      {"fourier_part", design.sizes.fourier_part},
            {"tree_part", design.sizes.tree_part}, {"main_parts", design.sizes.main_parts}};
  j["columns"] = json::array();
  for (std::size_t c = 0; c < design.columns.size(); ++c) {
    const ColumnScale& column = design.columns[c];
    j["columns"].push_back({{"numeric", static_cast<bool>(design.numeric[c])},
                            {"weight", design.weights[c]},
                            {"fine", static_cast<bool>(design.fine[c])},
                            {"importance", column.importance},
                            {"start", column.start},
                            {"width", column.width},
                            {"share", column.share}});
  }
  if (design.sizes.least_length > 0) j["least_length"] = design.sizes.least_length;
  j["directions"] = design.directions;
  j["wave_means"] = design.fourier_means;
  j["splits"] = json::array();
  for (const FeatureDesign::Split& split : design.splits)
    j["splits"].push_back({split.column, split.threshold});
  j["leaf_shares"] = design.leaf_shares;
  return j;
}

FeatureDesign feature_design_from_json(const json& j) {
  FeatureDesign d;
  d.sizes = {json_count(j.at("fourier"), "the number of waves", kMostFeatures),
             json_count(j.at("trees"), "the number of trees", kMostFeatures),
             j.at("main_part").get<double>(), j.at("fourier_part").get<double>(),
             j.at("tree_part").get<double>()};
  // Models of before: one layer, columns alike.
  d.sizes.main_parts = {16};
  if (j.contains("main_parts")) {
    const auto parts = json_counts(j.at("main_parts"), "parts of a number");
    d.sizes.main_parts.assign(parts.begin(), parts.end());
  }
  if (d.sizes.main_parts.empty() || d.sizes.main_parts.size() > 16) damaged("parts of a number");
  for (std::size_t i = 0; i < d.sizes.main_parts.size(); ++i) {
    const std::size_t parts = d.sizes.main_parts[i], finer = d.sizes.main_parts[i > 0 ? i - 1 : 0];
    if (parts < 1 || parts > 4096 || finer % parts != 0) damaged("parts of a number");
  }
  d.sizes.least_length = j.value("least_length", 0.0);
  check_numbers({d.sizes.least_length}, 0, 1e3, "lengths");
  check_numbers({d.sizes.main, d.sizes.fourier_part, d.sizes.tree_part}, 0, 1, "parts");
  for (const json& column : j.at("columns")) {
    d.numeric.push_back(column.at("numeric").get<bool>());
    d.weights.push_back(column.value("weight", 1.0));
    d.fine.push_back(column.value("fine", true));
    check_numbers({d.weights.back()}, 0, 1, "weights");
    ColumnScale scale;
    scale.importance = column.at("importance").get<double>();
    scale.start = column.at("start").get<std::vector<double>>();
    scale.width = column.at("width").get<std::vector<double>>();
    scale.share = column.at("share").get<std::vector<double>>();
    if (scale.start.size() != scale.share.size() || scale.width.size() != scale.share.size())
      damaged("levels");
    check_numbers(scale.start, 0, 1.000001, "start");
    check_numbers(scale.width, 0, 1.000001, "width");
    check_numbers(scale.share, 0, 1.000001, "share");
    d.columns.push_back(std::move(scale));
  }
  // Rows of main effects are scaled to a length: there must be something to scale.
  if (d.columns.empty() || *std::max_element(d.weights.begin(), d.weights.end()) < kLeastWeight)
    damaged("weights");
  d.directions = j.at("directions").get<std::vector<float>>();
  d.fourier_means = j.at("wave_means").get<std::vector<float>>();
  for (const json& split : j.at("splits")) {
    d.splits.push_back({static_cast<std::uint32_t>(json_count(split.at(0), "a column", 0xffffffff)),
                        split.at(1).get<double>()});
    if (d.splits.back().column >= d.columns.size()) damaged("a split");
  }
  d.leaf_shares = j.at("leaf_shares").get<std::vector<std::vector<double>>>();
  if (d.directions.size() != d.sizes.fourier * d.columns.size() ||
      d.fourier_means.size() != 2 * d.sizes.fourier ||
      d.splits.size() != d.sizes.trees * kTreeDepth || d.leaf_shares.size() != d.sizes.trees)
    damaged("sizes");
  for (const std::vector<double>& shares : d.leaf_shares) {
    if (shares.size() != std::size_t{1} << kTreeDepth) damaged("leaves");
    check_numbers(shares, 0, 1.000001, "leaves");
  }
  for (const float x : d.directions)
    if (!(std::abs(x) <= 1e4f)) damaged("directions");
  for (const float x : d.fourier_means)
    if (!(std::abs(x) <= 1)) damaged("means");
  return d;
}

}  // namespace sotto
