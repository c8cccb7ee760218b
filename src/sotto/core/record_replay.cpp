#include "sotto/core/record_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/event_json.hpp"

namespace sotto::replay {
namespace {

class Recorder final : public QueryObserver {
 public:
  Recorder(std::uint64_t seed, const Recording* follow) : seed_(seed), follow_(follow) {}

  RandomSource* begin(const NoisedQuery& query, std::uint64_t words) override {
    QueryRecord record{.mechanism = std::string(query.mechanism),
                       .values = {},
                       .sensitivity = query.sensitivity,
                       .scale = query.scale,
                       .norm = query.norm,
                       .words_before = words,
                       .result = {}};
    std::visit([&](auto values) { record.values.assign(values.begin(), values.end()); },
               query.values);
    recording.queries.push_back(std::move(record));
    // A stream of its own for each query: seed and number of the query decide it, nothing else.
    inside_ = insecure_seed_source(seed_ ^ (0x9E3779B97F4A7C15u * recording.queries.size()));
    return inside_.get();
  }
  void publish(Values result) override {
    const std::size_t number = recording.queries.size() - 1;
    std::visit(
        [&](auto values) {
          if (follow_ != nullptr && number < follow_->queries.size() &&
              follow_->queries[number].result.size() == values.size()) {
            for (std::size_t i = 0; i < values.size(); ++i) {
              values[i] = static_cast<typename decltype(values)::value_type>(
                  follow_->queries[number].result[i]);
            }
          }
          recording.queries[number].result.assign(values.begin(), values.end());
        },
        result);
  }
  void end() override { inside_.reset(); }

  Recording recording;

 private:
  std::uint64_t seed_;
  const Recording* follow_;
  std::unique_ptr<RandomSource> inside_;
};

}  // namespace

Recording record(std::uint64_t seed, const std::function<std::optional<Event>(Rng&)>& run,
                 const Recording* follow) {
  Recorder recorder(seed, follow);
  Rng rng = Rng::insecure_seed(seed);
  rng.watch(&recorder);
  recorder.recording.event = run(rng);
  recorder.recording.words_total = rng.words();
  return std::move(recorder.recording);
}

long double norm_of_difference(const std::vector<long double>& a, const std::vector<long double>& b,
                               Norm norm) {
  long double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double d = std::fabs(a[i] - b[i]);
    if (norm == Norm::l1) result += d;
    if (norm == Norm::l2) result += d * d;
    if (norm == Norm::linf) result = std::max(result, d);
  }
  return norm == Norm::l2 ? std::sqrt(result) : result;
}

double largest_move(const Recording& a, const Recording& b) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.queries.size(), b.queries.size()); ++i) {
    const QueryRecord &x = a.queries[i], &y = b.queries[i];
    if (x.values.size() != y.values.size() || !(x.sensitivity > 0)) continue;
    largest = std::max(largest, static_cast<double>(norm_of_difference(x.values, y.values, x.norm) /
                                                    x.sensitivity));
  }
  return largest;
}

std::string difference(const Recording& a, const Recording& b) {
  if (a.queries.size() != b.queries.size()) {
    return fmt::format("{} queries on one data set, {} on its neighbour", a.queries.size(),
                       b.queries.size());
  }
  for (std::size_t i = 0; i < a.queries.size(); ++i) {
    const QueryRecord &x = a.queries[i], &y = b.queries[i];
    if (x.mechanism != y.mechanism)
      return fmt::format("query {}: mechanism {} or {}", i, x.mechanism, y.mechanism);
    if (x.values.size() != y.values.size())
      return fmt::format("query {}: size {} or {}", i, x.values.size(), y.values.size());
    if (x.sensitivity != y.sensitivity)
      return fmt::format("query {}: sensitivity {} or {}", i, x.sensitivity, y.sensitivity);
    if (x.scale != y.scale) return fmt::format("query {}: scale {} or {}", i, x.scale, y.scale);
    if (x.norm != y.norm) return fmt::format("query {}: norm differs", i);
    if (x.words_before != y.words_before) {
      return fmt::format("query {}: {} or {} random words were used before it", i, x.words_before,
                         y.words_before);
    }
    const long double moved = norm_of_difference(x.values, y.values, x.norm);
    // Values are exact (integers or doubles); only the norm itself is rounded here, by a few units
    // of 2^-63.
    if (!(moved <= static_cast<long double>(x.sensitivity) * (1 + 1e-15L))) {
      return fmt::format("query {} ({}): moved by {} in {}, declared sensitivity {}", i,
                         x.mechanism, static_cast<double>(moved), name(x.norm), x.sensitivity);
    }
  }
  if (a.words_total != b.words_total)
    return fmt::format("{} or {} random words in all", a.words_total, b.words_total);
  if (a.event != b.event) {
    auto text = [](const std::optional<Event>& e) {
      return e ? to_json(*e).dump() : std::string("none");
    };
    return fmt::format("event {} or {}", text(a.event), text(b.event));
  }
  return "";
}

std::string check_neighbours(const std::function<std::optional<Event>(Rng&)>& run_on_a,
                             const std::function<std::optional<Event>(Rng&)>& run_on_b,
                             std::uint64_t seed) {
  const Recording first = record(seed, run_on_a);
  return difference(first, record(seed, run_on_b, &first));
}

}  // namespace sotto::replay
