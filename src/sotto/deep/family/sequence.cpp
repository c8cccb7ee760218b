#include "sotto/deep/family/detail/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/learning/unsupervised_model.hpp"

namespace sotto::deep {
namespace {

constexpr std::int64_t kRowsAtOnce = 256;

class SequenceModel final : public TransformModel {
 public:
  SequenceModel(Network network, const Facts& facts, NetworkFiles files)
      : TransformModel(facts), network_(std::move(network)), files_(files) {
    network_->eval();
  }

  Files files() const override { return files_of(network_, files_); }
  std::vector<OutputColumn> columns() const override {
    return {{.name = "log_likelihood", .bounds = Bounds(-kMostNats * places(), 0)}};
  }
  std::vector<double> apply(const Block& block) const override {
    const Records records = sequence_records(block.table());
    std::vector<double> values;
    for (std::int64_t first = 0; first < records.size(); first += kRowsAtOnce) {
      const std::int64_t rows = std::min(kRowsAtOnce, records.size() - first);
      for (const double nats : surprise(records.range(first, rows).inputs)) values.push_back(-nats);
    }
    return values;
  }

  // The mean surprise of a place, as a share of the most. One row at a time, so that nothing
  // depends on its company.
  std::size_t measures() const override { return 1; }
  Distance measure_bound() const override { return {1, 1}; }
  void measure(std::span<const double> row, std::span<double> out) const override {
    auto tokens =
        torch::zeros({1, static_cast<std::int64_t>(encoder().features().size())}, torch::kLong);
    for (std::size_t f = 0; f < encoder().features().size(); ++f) {
      const Encoder::Run run = encoder().run(f);
      const auto part = row.subspan(run.first, run.width);
      tokens.data_ptr<std::int64_t>()[f] = std::ranges::max_element(part) - part.begin();
    }
    out[0] = surprise(tokens).front() / (kMostNats * places());
  }
  nlohmann::ordered_json figures(std::span<const double> sums, double rows, double) const override {
    const double counted = std::max(0.0, std::round(rows)),
                 nats = kMostNats * std::clamp(sums[0] / std::max(1.0, rows), 0.0, 1.0);
    return {{"rows", static_cast<std::uint64_t>(counted)},
            {"nats_of_a_place", nats},
            {"perplexity", std::exp(nats)}};
  }

 private:
  double places() const { return static_cast<double>(network_->options().input[0]); }
  // Of each row: Σ over places of −ln p, each at most kMostNats.
  std::vector<double> surprise(const torch::Tensor& tokens) const {
    const torch::NoGradGuard no_grad;
    const torch::Tensor said =
        torch::log_softmax(Network(network_)->forward(tokens).to(torch::kDouble), 2);
    const torch::Tensor nats = said.gather(2, tokens.unsqueeze(2))
                                   .squeeze(2)
                                   .neg()
                                   .nan_to_num(kMostNats, kMostNats, 0.0)
                                   .clamp(0, kMostNats)
                                   .sum(1)
                                   .contiguous();
    return {nats.data_ptr<double>(), nats.data_ptr<double>() + nats.numel()};
  }

  Network network_;
  NetworkFiles files_;
};

}  // namespace

void check_sequence_facts(const Facts& facts) {
  const auto refuse = [](const std::string& what) {
    throw Unsupported("a sequence has one list of values for all its places, and " + what,
                      "declare every column as categorical with the same values");
  };
  if (!facts.encoder) refuse("images have none");
  const std::vector<ColumnEncoder>& features = facts.encoder->features();
  if (facts.encoder->hot_columns() != features.size()) refuse("not all features are categories");
  for (const ColumnEncoder& f : features)
    if (f.labels() != features.front().labels())
      refuse(fmt::format("'{}' has others than '{}'", f.column().name,
                         features.front().column().name));
}

std::int64_t values_of_places(const Facts& facts) {
  return static_cast<std::int64_t>(facts.encoder->features().front().labels().size());
}

Records sequence_records(const Table& table) {
  const auto n = static_cast<std::int64_t>(table.rows()),
             places = static_cast<std::int64_t>(table.encoder().hot_columns());
  auto inputs = torch::zeros({n, places}, torch::kLong);
  auto targets = torch::zeros({n, places}, torch::kLong);
  auto* in = inputs.data_ptr<std::int64_t>();
  auto* out = targets.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    for (std::size_t f = 0; f < table.encoder().hot_columns(); ++f, ++in, ++out) {
      if (table.is_null(i)) {
        *out = kNoIgnoredIndex;
        continue;
      }
      *in = *out = static_cast<std::int64_t>(table.hot(i)[f]) -
                   static_cast<std::int64_t>(table.encoder().hot_positions()[f]);
    }
  }
  return {inputs, targets};
}

std::unique_ptr<Model> sequence_model(Network network, const Facts& facts, NetworkFiles files) {
  check_sequence_facts(facts);
  return std::make_unique<SequenceModel>(std::move(network), facts, files);
}

}  // namespace sotto::deep
