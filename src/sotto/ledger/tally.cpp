#include "sotto/ledger/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::ledger {
namespace {

constexpr const char* kNothingCharged = "nothing was charged and no data was read";

}  // namespace

Tally::Tally(const Dataset& dataset) { follow(dataset); }

void Tally::follow(const Dataset& dataset) {
  name_ = dataset.name, cap_ = dataset.this_data_epsilon, largest_delta_ = dataset.delta;
}

Statement Tally::worst_of(const Spec& spec, double delta) const {
  const double at = delta > 0 ? delta : largest_delta_ * kShareOfDelta;
  try {
    return {guarantee(spec, at).upper, at, 1};
  } catch (const AccountingError&) {
    throw BudgetExceeded(
        fmt::format("the release has no epsilon at delta = {}, which the tally of '{}' needs", at,
                    name_),
        kNothingCharged);
  }
}

void Tally::enter(std::int64_t entry, const Statement& worst) {
  Tally after = *this;
  after.add_without_asking(entry, worst);
  if (after.epsilon() > cap_)
    throw BudgetExceeded(
        fmt::format("the tally of '{}' does not cover it: epsilon = {} about this data would pass "
                    "{}; {} left",
                    name_, round_up(worst.epsilon, 4), cap_, round_down(left(), 4)),
        kNothingCharged);
  if (after.delta() > largest_delta_)
    throw BudgetExceeded(
        fmt::format("the tally of '{}' does not cover it: its statements would have delta = {} "
                    "together, above {}",
                    name_, round_up(after.delta(), 3), largest_delta_),
        fmt::format("{}; ask for a smaller delta", kNothingCharged));
  *this = std::move(after);
}

bool Tally::lower(std::int64_t entry, const Statement& said) {
  const auto it = all_.find(entry);
  if (it == all_.end() || !(said.epsilon >= 0 && said.epsilon < it->second.epsilon) ||
      said.delta != it->second.delta || !(said.confidence > 0 && said.confidence < 1))
    return false;
  const Statement before = it->second;
  it->second = said;
  if (confidence() >= kTogether) return true;
  it->second = before;
  return false;
}

void Tally::add_without_asking(std::int64_t entry, const Statement& statement) {
  all_[entry] = statement;
}

double Tally::epsilon() const {
  double sum = 0;
  for (const auto& [entry, s] : all_) sum = add_up(sum, s.epsilon);
  return sum;
}

double Tally::delta() const {
  // Counted in whole shares, so that as many fit as there are.
  double sum = 0;
  for (const auto& [entry, s] : all_) sum += s.delta;
  return sum > largest_delta_ && sum <= largest_delta_ * (1 + 1e-12) ? largest_delta_ : sum;
}

double Tally::confidence() const {
  double risk = 0;
  for (const auto& [entry, s] : all_) risk = add_up(risk, 1 - s.confidence);
  // Ten risks of a fiftieth are a fifth.
  return std::max(0.0, std::round((1 - risk) * 1e12) / 1e12);
}

double Tally::left() const { return std::max(0.0, next_down(cap_ - epsilon())); }

Tally tally_of(const Dataset& dataset, const std::vector<Entry>& entries) {
  Tally tally(dataset);
  if (!tally.active()) return tally;
  for (const Entry& e : entries) {
    const bool has = e.json.contains("this_data");
    if ((e.kind == "reserve" || e.kind == "charge") && has) {
      tally.add_without_asking(e.seq, statement_from_json(e.json.at("this_data")));
    } else if (e.kind == "commit" && has) {
      tally.add_without_asking(e.json.at("entry").get<std::int64_t>(),
                               statement_from_json(e.json.at("this_data")));
    } else if (e.kind == "abandon") {
      tally.take_out(e.json.at("entry").get<std::int64_t>());
    } else if (e.kind == "decision" && e.json.value("decision", "") == "renew") {
      tally.all_.clear();
    }
  }
  return tally;
}

nlohmann::json to_json(const Statement& s) {
  return {{"epsilon", s.epsilon}, {"delta", s.delta}, {"confidence", s.confidence}};
}

Statement statement_from_json(const nlohmann::json& json) {
  return {json.at("epsilon").get<double>(), json.at("delta").get<double>(),
          json.at("confidence").get<double>()};
}

}  // namespace sotto::ledger
