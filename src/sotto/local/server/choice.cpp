#include "sotto/local/server/choice.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sotto/core/error.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {

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
    if (kind.name == "fast_olh")  // all values but one alike
      variance += 1 / (static_cast<double>(categories) * (d.parameter("buckets") - 1) *
                       d.parameter("seeds"));
    all.push_back(
        {kind.name, unit, std::sqrt(variance), randomizer->report_bytes(), randomizer->epsilon()});
  }
  std::stable_sort(all.begin(), all.end(), [](const PredictedError& a, const PredictedError& b) {
    return std::tie(a.standard_error, a.report_bytes) < std::tie(b.standard_error, b.report_bytes);
  });
  return all;
}

std::string best_protocol(double epsilon, std::uint64_t categories, std::size_t most_bytes) {
  constexpr double kAlike = 1 + 1e-9;
  const double share = 1 / static_cast<double>(categories);
  const PredictedError* best = nullptr;
  const auto all = predicted_errors(epsilon, categories, 1'000'000, share);
  for (const PredictedError& p : all) {
    if (p.report_bytes > most_bytes) continue;
    if (best == nullptr ||
        (p.unit_variance <= best->unit_variance * kAlike && p.report_bytes < best->report_bytes))
      best = &p;
  }
  if (best == nullptr) throw InvalidArgument("no protocol has reports that are short enough");
  return best->protocol;
}

}  // namespace sotto::local
