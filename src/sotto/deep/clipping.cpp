#include "sotto/deep/clipping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

// Squared norms are sums of squares of floats in double; thresholds far from 1 would leave that
// range.
constexpr double kSmallest = 1e-12, kLargest = 1e12;

void require_norm(double norm) {
  if (norm >= kSmallest && norm <= kLargest) return;
  throw InvalidArgument(fmt::format("the clipping norm must be between {} and {}, not {}",
                                    kSmallest, kLargest, norm));
}

float towards_zero(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? std::nextafter(f, 0.0f) : f;
}

}  // namespace

Clipper::Clipper(ClipOptions options, const std::vector<std::string>& parameters)
    : options_(std::move(options)) {
  if (!(options_.stability > 0) && options_.rule == ClipRule::normalised)
    throw InvalidArgument(fmt::format(
        "the stability of normalised clipping must be above 0, not {}", options_.stability));
  for (const std::string& name : parameters) {
    const std::string layer = options_.rule == ClipRule::per_layer
                                  ? name.substr(0, std::min(name.rfind('.'), name.size()))
                                  : "";
    const auto found = std::find(layers_.begin(), layers_.end(), layer);
    group_.push_back(static_cast<std::size_t>(found - layers_.begin()));
    if (found == layers_.end()) layers_.push_back(layer);
  }
  if (!options_.layer_norms.empty() &&
      (options_.rule != ClipRule::per_layer || options_.layer_norms.size() != layers_.size())) {
    throw InvalidArgument(fmt::format("{} clipping norms were given for {} layers",
                                      options_.layer_norms.size(), layers_.size()),
                          "give one for each layer in the order of the parameters, or none");
  }
  set_norm(options_.norm);
}

void Clipper::set_norm(double norm) {
  require_norm(norm);
  const double total = std::sqrt(std::inner_product(
      options_.layer_norms.begin(), options_.layer_norms.end(), options_.layer_norms.begin(), 0.0));
  for (const double n : options_.layer_norms) require_norm(n);
  const double share = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(layers_.size(), 1)));
  thresholds_.clear();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const double part = options_.layer_norms.empty() ? share : options_.layer_norms[l] / total;
    thresholds_.push_back(norm * part / (1 + kRoundingAllowance));
  }
  options_.norm = norm;
}

ClipFactors Clipper::factors(const std::vector<const std::vector<double>*>& squares,
                             std::size_t records, const std::vector<bool>& empty,
                             const std::vector<double>& row_norms) const {
  if (!row_norms.empty() && (options_.rule != ClipRule::flat || row_norms.size() != records))
    throw InvalidArgument("records have thresholds of their own in flat clipping only");
  ClipFactors result;
  result.factors.assign(groups(), std::vector<float>(records, 0));
  std::vector<double> group(groups());
  for (std::size_t i = 0; i < records; ++i) {
    std::fill(group.begin(), group.end(), 0);
    double total = 0;
    for (std::size_t k = 0; k < squares.size(); ++k) {
      group[group_[k]] += (*squares[k])[i];
      total += (*squares[k])[i];
    }
    // A norm beyond the floats would make the products of the weighted sum overflow before they are
    // scaled.
    if (!(total <= static_cast<double>(std::numeric_limits<float>::max()))) {
      result.dropped.push_back(static_cast<std::int64_t>(i));
      continue;
    }
    if (!empty.empty() && empty[i]) continue;
    if (std::sqrt(total) <= options_.norm / (1 + kRoundingAllowance)) ++result.unclipped;
    for (std::size_t l = 0; l < groups(); ++l) {
      const double norm = std::sqrt(group[l]);
      double threshold = thresholds_[l];
      if (!row_norms.empty())
        threshold = std::min(threshold, std::max(0.0, row_norms[i] / (1 + kRoundingAllowance)));
      const double beyond = options_.zero_above ? 0 : threshold / norm;
      const double factor = options_.rule == ClipRule::normalised
                                ? threshold / (norm + options_.stability)
                            : norm > threshold ? beyond
                                               : 1;
      result.factors[l][i] = towards_zero(factor);
    }
  }
  return result;
}

}  // namespace sotto::deep
