// A naive Bayes classifier: shares of the classes, and the law of each column given the class.
//
// What       log P(class) + Σ over columns of log P(cell | class), each column a table of
//            probabilities (categorical, boolean) or a normal law (numeric).
// Guarantee  None of its own: it is made from noisy sums by public rules (from_sums), so it costs
//            what they cost.
// Method     s: the standard deviation of the noise of one sum, N_c: the noisy count of a class.
//            Counts of classes are at least 1 + s. Counts of categories below 0 are 0; the shares
//            of a class are drawn towards those of all classes together with the weight of 1 + s
//            records for each category, so that a category about which noise says more than the
//            records do says nothing. Means lie in [−1, 1]. Variances are at least 2s/N_c, about
//            what noise alone would show, and at least 10^−4.
// Numerics   Sums of logarithms; probabilities are normalised by their largest.
// Reference  docs/math/naive-bayes.md.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/models/naive_bayes/detail/class_statistics.hpp"

namespace sotto {

struct NaiveBayesModel {
  struct Normal {
    double mean = 0, variance = 1;
  };
  struct OfClass {
    double share = 0;
    // For each coordinate of the encoded row the probability that it is 1 (categories, booleans);
    // 0 and unused at a number.
    std::vector<double> probability;
    std::vector<Normal> normal;  // of the numeric columns
  };
  std::vector<OfClass> classes;

  // sums: as ClassStatistics lays them out, in natural units.
  static NaiveBayesModel from_sums(std::span<const double> sums, const ClassStatistics& statistics,
                                   const Encoder& encoder, double noise);

  // Of the classes, for a row of a table with this encoder.
  std::vector<double> probabilities(const Table& table, std::size_t row) const;
};

nlohmann::ordered_json to_json(const NaiveBayesModel& model);

// As a model of the shelf. Throws DataError when it does not fit the encoder.
std::unique_ptr<Model> naive_bayes_classifier(NaiveBayesModel model, const Facts& facts);
std::unique_ptr<Model> load_naive_bayes(const Files& files, Facts& facts);

}  // namespace sotto
