#include "sotto/local/server/accumulator.hpp"

#include <fmt/format.h>

#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/numbers.hpp"
#include "sotto/local/server/prefixes.hpp"
#include "sotto/local/server/puzzles.hpp"
#include "sotto/local/server/rappor_decoding.hpp"
#include "sotto/local/server/words.hpp"

namespace sotto::local {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::unreadable: return "unreadable";
    case Refusal::other_parameters: return "other_parameters";
    case Refusal::wrong_epoch: return "wrong_epoch";
    case Refusal::duplicate: return "duplicate";
  }
  invariant_broken("a refusal without a name");
}

std::unique_ptr<Aggregator> make_aggregator(const Declaration& declaration) {
  (void)make_randomizer(declaration);  // refuses what is not a protocol
  if (auto made = make_frequency_aggregator(declaration)) return made;
  if (auto made = make_number_aggregator(declaration)) return made;
  if (auto made = make_word_aggregator(declaration)) return made;
  if (declaration.protocol == "range_tree" || declaration.protocol == "prefix_tree")
    return std::make_unique<PrefixAggregator>(
        dynamic_cast<const LeveledHash&>(*make_randomizer(declaration)));
  if (declaration.protocol == "sfp")
    return std::make_unique<PuzzleAggregator>(
        dynamic_cast<const FragmentPuzzle&>(*make_randomizer(declaration)));
  if (declaration.protocol == "rappor")
    return std::make_unique<RapporCounts>(Rappor(rappor_parameters(declaration)));
  invariant_broken("a protocol without a collector");
}

Accumulator::Accumulator(Declaration declaration)
    : declaration_(std::move(declaration)),
      tag_(tag_of(declaration_)),
      aggregator_(make_aggregator(declaration_)) {
  epochs_ = declaration_.whole("epochs");
}

std::uint64_t Accumulator::refused() const {
  return std::accumulate(refused_.begin(), refused_.end(), std::uint64_t{0});
}

bool Accumulator::take(const Record& record) {
  const auto no = [&](Refusal why) {
    refuse(why);
    return false;
  };
  if (record.tag != tag_) return no(Refusal::other_parameters);
  if (!aggregator_->accepts(record.report) || reports() >= kMostReports)
    return no(Refusal::unreadable);
  const std::uint64_t epoch = record.epoch.value_or(0);
  if (epoch >= epochs_) return no(Refusal::wrong_epoch);
  if (record.client.empty()) {
    ++unnamed_;
  } else if (!seen_.insert(SeenClients::digest(record.client, epoch))) {
    return no(Refusal::duplicate);
  }
  aggregator_->add(record.report);
  return true;
}

void Accumulator::merge(Accumulator& other) {
  if (other.declaration_ != declaration_)
    throw DataError("the accumulators are of different protocols or parameters");
  std::uint64_t both = 0;
  other.seen_.for_each([&](const SeenClients::Digest& d) { both += seen_.contains(d) ? 1 : 0; });
  if (both > 0)
    throw DataError(fmt::format("{} clients have reported to both collectors in one epoch", both),
                    "give each client one collector, or collect the reports themselves together");
  if (reports() + other.reports() > kMostReports) throw DataError("there are too many reports");
  aggregator_->merge(other.reports(), other.aggregator_->cells());
  other.seen_.for_each([&](const SeenClients::Digest& d) { seen_.insert(d); });
  unnamed_ += other.unnamed_;
  for (std::size_t i = 0; i < kRefusals; ++i) refused_[i] += other.refused_[i];
}

}  // namespace sotto::local
