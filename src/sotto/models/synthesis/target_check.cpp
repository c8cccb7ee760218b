#include "sotto/models/synthesis/detail/target_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/models/synthesis/detail/pair_queries.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"

namespace sotto {
namespace {

// What slopes are before anything is known of them, about.
constexpr double kUsualSlope = 0.75, kSlopesApart = 0.3;
constexpr double kLeastOfExpected = 0.5;

}  // namespace

TargetPrediction::TargetPrediction(const SynthesisModel& model, std::size_t target)
    : model_(model), target_(target), alone_(model.columns[target].levels) {
  for (std::size_t t = 0; t < model.measured.size(); ++t) {
    const std::vector<std::uint32_t>& columns = model.measured[t].columns;
    if (std::find(columns.begin(), columns.end(), target) == columns.end()) continue;
    if (columns.size() == 1) {
      for (std::size_t l = 0; l < alone_.size(); ++l) alone_[l] += model.potentials[t][l];
      continue;
    }
    Term term{.index = t, .group = grouped_cells(model.measured[t].groups)};
    term.stride.resize(columns.size());
    std::size_t stride = 1;
    for (std::size_t i = columns.size(); i-- > 0;) {
      term.stride[i] = columns[i] == target ? 0 : stride;
      if (columns[i] == target) term.own = stride;
      stride *= model.columns[columns[i]].levels;
    }
    terms_.push_back(std::move(term));
  }
}

void TargetPrediction::operator()(std::span<const std::uint32_t> levels,
                                  std::vector<double>& probability) const {
  probability = alone_;
  for (const Term& term : terms_) {
    const std::vector<std::uint32_t>& columns = model_.measured[term.index].columns;
    std::size_t at = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) at += term.stride[i] * levels[columns[i]];
    for (std::size_t k = 0; k < probability.size(); ++k) {
      const std::size_t cell = at + k * term.own;
      probability[k] += model_.potentials[term.index][term.group.empty() ? cell : term.group[cell]];
    }
  }
  const double most = *std::max_element(probability.begin(), probability.end());
  double sum = 0;
  for (double& p : probability) sum += p = std::exp(p - most);
  for (double& p : probability) p /= sum;
}

TargetCheck::TargetCheck(const CellColumns& columns, const SynthesisModel& model,
                         const std::vector<std::uint32_t>& records)
    : columns_(columns),
      model_(model),
      target_(*columns.target()),
      predict_(model, target_),
      share_(level_shares(model.measured[target_], model.total)) {
  double before = 0;
  for (const double p : share_) {
    const double rank = before + p / 2;
    score_.push_back(2 * rank - 1);
    sign_.push_back(rank < 0.5 ? -1 : 1);
    before += p;
  }
  const std::size_t width = columns.columns(), rows = records.size() / width;
  std::vector<double> p;
  double square = 0, sum = 0;
  const auto each = [&](auto&& f) {
    for (std::size_t r = 0; r < rows; ++r) {
      predict_(std::span(records).subspan(r * width, width), p);
      for (std::size_t k = 0; k < p.size(); ++k) f(p[k], excess(p, k));
    }
  };
  each([&](double probability, double far) { square += probability * far * far; });
  const double count = static_cast<double>(std::max<std::size_t>(1, rows));
  if (square > 0) scale_ = 1 / (2 * std::sqrt(square / count));
  each([&](double probability, double far) { sum += probability * far; });
  expected_ = model.total * sum / count;
}

double TargetCheck::excess(std::span<const double> probability, std::size_t level) const {
  double far = 0;
  if (columns_.is_numeric(target_)) {
    for (std::size_t k = 0; k < share_.size(); ++k) far += (probability[k] - share_[k]) * score_[k];
    far *= sign_[level];
  } else {
    far = probability[level] - share_[level];
  }
  return std::clamp(far * scale_, -1.0, 1.0);
}

std::vector<int128> TargetCheck::sums(Source& source) const {
  const auto add = [&](const Table& block, std::span<int128> total) {
    std::vector<std::uint32_t> read(columns_.columns());
    std::vector<double> p;
    for (std::size_t i = 0; i < block.rows(); ++i) {
      if (block.is_null(i)) continue;
      columns_.read(block, i, read);
      for (std::size_t j = 0; j < read.size(); ++j) read[j] = model_.columns[j].level[read[j]];
      predict_(read, p);
      double said = 0;
      for (std::size_t k = 0; k < p.size(); ++k) said += p[k] * excess(p, k);
      const auto steps = [](double x) {
        return std::isfinite(x) ? std::llround(std::clamp(x, -1.0, 1.0) * kScoreSteps) : 0LL;
      };
      total[0] += steps(excess(p, read[target_]));
      total[1] += steps(said);
    }
  };
  return source.sum(kSums, add);
}

double checked_slope(std::span<const double> sums, double deviation, double expected) {
  const double said = std::max({sums[1], kLeastOfExpected * expected, 1e-9});
  const double slope = sums[0] / said, apart = deviation * std::hypot(1, slope) / said;
  const double own = 1 / (apart * apart + 1e-12), usual = 1 / (kSlopesApart * kSlopesApart);
  return std::clamp((own * slope + usual * kUsualSlope) / (own + usual), 0.0, 1.0);
}

}  // namespace sotto
