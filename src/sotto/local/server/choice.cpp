#include "sotto/local/server/choice.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sotto/core/error.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {
namespace {

// Σ f² of k categories that are as frequent as Zipf's law says: the i-th has a share of about 1/i.
double zipf_squares(std::uint64_t categories) {
  double sum = 0, squares = 0;
  for (std::uint64_t i = 1; i <= categories; ++i) {
    const double share = 1 / static_cast<double>(i);
    sum += share, squares += share * share;
  }
  return squares / (sum * sum);
}

}  // namespace

std::vector<PredictedError> predicted_errors(double epsilon, std::uint64_t categories,
                                             std::uint64_t reports, double share) {
  std::vector<PredictedError> all;
  for (const ProtocolKind& kind : protocol_kinds()) {
    if (kind.input != Input::category || !kind.one_time || !kind.listed) continue;
    Declaration start{.protocol = kind.name, .epsilon = epsilon, .domain = categories};
    const Declaration d = declare(std::move(start), OptionValues(protocol_options(kind), {}));
    const auto randomizer = make_randomizer(d);
    const auto aggregator = make_frequency_aggregator(d);
    const double unit = aggregator->unit_variance(share);
    double variance = unit / static_cast<double>(reports);
    if (kind.name == "fast_olh")
      variance += zipf_squares(categories) / ((d.parameter("buckets") - 1) * d.parameter("seeds"));
    all.push_back(
        {kind.name, unit, std::sqrt(variance), randomizer->report_bytes(), randomizer->epsilon()});
  }
  std::stable_sort(all.begin(), all.end(), [](const PredictedError& a, const PredictedError& b) {
    return std::tie(a.standard_error, a.report_bytes) < std::tie(b.standard_error, b.report_bytes);
  });
  return all;
}

std::string best_protocol(double epsilon, std::uint64_t categories, std::uint64_t reports,
                          std::size_t most_bytes) {
  constexpr double kAlike = 1 + 1e-9;
  const double share = 1 / static_cast<double>(categories);
  const PredictedError* best = nullptr;
  const auto all = predicted_errors(epsilon, categories, reports, share);
  for (const PredictedError& p : all) {
    if (p.report_bytes > most_bytes) continue;
    if ((p.protocol == "olh" || p.protocol == "blh") && categories > kQuickToCollect) continue;
    if (best == nullptr ||
        (p.standard_error <= best->standard_error * kAlike && p.report_bytes < best->report_bytes))
      best = &p;
  }
  if (best == nullptr) throw InvalidArgument("no protocol has reports that are short enough");
  return best->protocol;
}

}  // namespace sotto::local
