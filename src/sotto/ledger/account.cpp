#include "sotto/ledger/account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/accounting/account.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/scaled_event.hpp"

namespace sotto::ledger {
namespace {

double plan_epsilon(const std::vector<Run>& plan, const std::vector<std::uint64_t>& used,
                    const Dataset& d) {
  Spec spec{d.relation, {}};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::uint64_t count = std::min(used[i], plan[i].count);
    if (count > 0) spec.events.push_back(repeat(plan[i].event, count));
  }
  return sotto::epsilon(spec, Delta(d.delta)).upper;
}

// ε by the tightest accountant; +∞ when there is none.
double alone(const Event& event, const Dataset& d) {
  try {
    return guarantee(Spec{d.relation, {event}}, d.delta).upper;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal) throw;
    return std::numeric_limits<double>::infinity();  // no number of its own at this δ
  }
}

}  // namespace

Account::Account(Dataset dataset) : dataset_(std::move(dataset)) {
  check(dataset_);
  if (dataset_.accountant == Accountant::pld) {
    plan_ = run_lengths(compose(dataset_.plan));
    used_.assign(plan_.size(), 0);
    return;
  }
  budget_.emplace(BudgetCap{.accountant = dataset_.accountant,
                            .relation = dataset_.relation,
                            .epsilon = dataset_.epsilon,
                            .delta = dataset_.delta,
                            .own_delta = dataset_.own_delta,
                            .rho = dataset_.rho});
  for (const std::string& place : places()) spends_.emplace(place, budget_->nothing());
}

std::vector<std::string> Account::places() const {
  std::vector<std::string> all = {""};
  all.insert(all.end(), dataset_.parts.begin(), dataset_.parts.end());
  return all;
}

Spend Account::total(const std::string& part) const {
  Spend sum = spends_.at("");
  if (!part.empty()) sum.add(spends_.at(part));
  return sum;
}

const Spend& Account::cost(const Event& event) {
  if (!last_cost_ || last_cost_->first != event) last_cost_.emplace(event, budget_->cost(event));
  return last_cost_->second;
}

void Account::refuse(const Event& event, const std::string& part, const Spend& spend) const {
  const bool rho_cap = dataset_.rho > 0;
  const double own_delta = budget_->least_own_delta(spend);
  if (rho_cap && own_delta > budget_->own_limit())
    throw BudgetExceeded(
        fmt::format("the budget of '{}' does not cover this: it is a release with a failure "
                    "probability of its own, delta = {}, and a budget in rho allows none",
                    dataset_.name, round_up(own_delta, 4)),
        fmt::format("nothing was charged and no data was read; rho {} of {:.6g} is left: declare "
                    "what the release would find out, or ask the owner for a data set with epsilon "
                    "and delta",
                    round_down(std::max(0.0, dataset_.rho - rho()), 4), dataset_.rho));
  if (own_delta > budget_->own_limit())
    throw BudgetExceeded(
        fmt::format("the budget of '{}' does not cover this: releases with a failure probability "
                    "of their own would have delta = {} together, and {} is set aside for them",
                    dataset_.name, round_up(own_delta, 4), round_down(budget_->own_limit(), 4)),
        fmt::format("nothing was charged and no data was read; epsilon {} of {:.6g} is left: ask "
                    "with a smaller delta, or the owner of the data set",
                    round_down(epsilon_left(), 4), dataset_.epsilon));
  const double sum = rho_cap ? budget_->rho(spend) : budget_->epsilon(spend);
  const double own = alone(event, dataset_), left = rho_cap ? dataset_.rho - rho() : epsilon_left();
  const auto number = [](double x) { return std::isfinite(x) ? round_up(x, 4) : "unbounded"; };
  const std::optional<double> largest = largest_like(event, part);
  const std::string at_delta =
      dataset_.delta > 0 ? fmt::format(" at delta = {}", dataset_.delta) : std::string();
  throw BudgetExceeded(
      fmt::format("the budget of '{}' does not cover this: {}the total by {} would be {} = {}{}, "
                  "and {} of {} is left",
                  dataset_.name,
                  std::isfinite(own) && has_epsilon()
                      ? fmt::format("epsilon = {} on its own{}, ", number(own), at_delta)
                      : std::string(),
                  name(dataset_.accountant), rho_cap ? "rho" : "epsilon", number(sum),
                  rho_cap ? std::string() : at_delta, round_down(std::max(0.0, left), 4),
                  fmt::format("{:.6g}", rho_cap ? dataset_.rho : dataset_.epsilon)),
      fmt::format("nothing was charged and no data was read; {}",
                  largest && *largest > 0
                      ? fmt::format("the largest single run like this that still fits: epsilon = "
                                    "{}; or ask the owner of the data set",
                                    round_down(*largest, 3))
                      : std::string("nothing like this fits any more; ask the owner of the data "
                                    "set")));
}

std::string Account::charge(const Event& event, const std::string& part) {
  return change(event, part, true);
}
std::string Account::refund(const Event& event, const std::string& part) {
  return change(event, part, false);
}

bool Account::has_place(const std::string& part) const {
  return part.empty() || std::ranges::find(dataset_.parts, part) != dataset_.parts.end();
}

void Account::check_place(const std::string& part) const {
  if (has_place(part)) return;
  check_text("part", part);
  throw InvalidArgument(fmt::format("the data set '{}' has no part '{}'", dataset_.name, part),
                        dataset_.parts.empty()
                            ? "it was created without parts; leave out `part`"
                            : fmt::format("`part`: {}", fmt::join(dataset_.parts, ", ")));
}

std::string Account::change(const Event& event, const std::string& part, bool add) {
  check_place(part);
  if (!plan_.empty()) {
    use_plan(event, add);
    return stored(part);
  }
  Spend& spend = spends_.at(part);
  if (!add) {
    spend.subtract(cost(event));
    if (newest_ && newest_->event == event && newest_->part == part) newest_.reset();
    return stored(part);
  }
  const Spend& cost = this->cost(event);
  if (const std::optional<Spend> sum = uncovered(cost, part)) {
    // Not chosen by looking at any result about these records, it needs no filter
    // (docs/math/filters.md); nothing fits after it.
    const bool lone =
        is_first(part) && dataset_.epsilon > 0 && alone(event, dataset_) <= dataset_.epsilon;
    if (!lone) refuse(event, part, *sum);
  }
  spend.add(cost);
  newest_.emplace(Newest{event, part, cost});
  return stored(part);
}

bool Account::remember(const Event& event, const std::string& part) {
  newest_.reset();
  if (!plan_.empty()) return false;
  check_place(part);
  newest_.emplace(Newest{event, part, cost(event)});
  return total(part) == newest_->cost;
}

// Only what the newest release is about: the same sum elsewhere may have been spent otherwise. What
// is pure adds up as it was written.
bool Account::is_all(const std::string& place) const {
  if (!newest_ || (!newest_->part.empty() && newest_->part != place)) return false;
  const Spend all = total(place);
  return all == newest_->cost && budget_->covers(all) && !budget_->is_pure(all);
}

// A release about everything touches every part; the whole alone stands for records that are in
// none.
std::vector<std::string> Account::touched_by(const std::string& part) const {
  return part.empty() ? places() : std::vector<std::string>{part};
}

bool Account::is_first(const std::string& part) const {
  const Spend nothing = budget_->nothing();
  return std::ranges::all_of(touched_by(part),
                             [&](const std::string& place) { return total(place) == nothing; });
}

std::optional<Spend> Account::uncovered(const Spend& cost, const std::string& part) const {
  for (const std::string& place : touched_by(part)) {
    Spend sum = total(place);
    sum.add(cost);
    if (!budget_->covers(sum)) return sum;
  }
  return std::nullopt;
}

std::optional<double> Account::largest_like(const Event& event, const std::string& part) const {
  if (!plan_.empty()) return std::nullopt;
  if (dataset_.epsilon > 0 && is_first(part)) return dataset_.epsilon;
  const auto fits = [&](double factor) {
    try {
      return !uncovered(budget_->cost(scaled(event, factor)), part);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal) throw;
      return false;
    }
  };
  // In powers of 2: what does not fit with a million times the noise is taken not to fit at all.
  double small = -20, large = 20;
  if (!fits(std::exp2(large))) return std::nullopt;
  for (int i = 0; i < 20; ++i) {
    const double middle = (small + large) / 2;
    (fits(std::exp2(middle)) ? large : small) = middle;
  }
  const double own = alone(scaled(event, std::exp2(large)), dataset_);
  return std::isfinite(own) ? std::optional(own) : std::nullopt;
}

void Account::use_plan(const Event& event, bool add) {
  Used after = used_;
  for (const Run& run : run_lengths(event)) {
    std::size_t i = 0;
    while (i < plan_.size() && plan_[i].event != run.event) ++i;
    // A client that lies can state more than there is: then nothing is left.
    const std::uint64_t limit = i == plan_.size() ? 0
                                : add ? plan_[i].count - std::min(plan_[i].count, after[i])
                                      : after[i];
    if (run.count > limit) {
      if (!add) throw DataError("a release is taken back that was never charged");
      throw BudgetExceeded(
          fmt::format("the plan of '{}' has {} of this {} release left, {} asked for",
                      dataset_.name, limit, run.event.name(), run.count),
          "the pld accountant only covers releases of the plan, exactly as declared");
    }
    add ? after[i] += run.count : after[i] -= run.count;
  }
  used_ = std::move(after);
}

std::string Account::stored(const std::string& part) const {
  check_place(part);
  if (!plan_.empty()) return nlohmann::json(used_).dump();
  return spends_.at(part).to_json().dump();
}

std::string Account::digest() const {
  std::map<std::string, std::string> spends;
  for (const std::string& place : places()) spends.emplace(place, stored(place));
  return digest_of_spends(spends);
}

std::string digest_of_spends(const std::map<std::string, std::string>& spends) {
  std::string lines;
  for (const auto& [place, spend] : spends) lines += sha256(place) + " " + sha256(spend) + "\n";
  return sha256(lines);
}

void Account::restore(const std::string& part, const std::string& text) {
  const auto json = parse_json(text, "a stored spend");
  if (!has_place(part)) throw DataError("a spend is stored for a part that does not exist");
  if (plan_.empty()) {
    spends_.at(part) = Spend::from_json(json, *budget_);
    return;
  }
  try {
    used_ = json.get<Used>();
  } catch (const nlohmann::json::exception&) {
    throw DataError("a stored spend of a plan is damaged");
  }
  if (used_.size() != plan_.size()) throw DataError("a stored spend of a plan is damaged");
}

double Account::epsilon_of(const std::string& part) const {
  if (!plan_.empty()) return plan_epsilon(plan_, used_, dataset_);
  // Whatever was admitted is within the cap, also the one release that only the tightest accountant
  // grants it.
  double spent = budget_->epsilon(total(part));
  if (is_all(part)) {
    if (!newest_->alone) newest_->alone = alone(newest_->event, dataset_);
    spent = std::min(spent, *newest_->alone);
  }
  return dataset_.epsilon > 0 ? std::min(spent, dataset_.epsilon) : spent;
}

double Account::epsilon() const {
  if (!plan_.empty()) return plan_epsilon(plan_, used_, dataset_);
  double most = 0;
  for (const std::string& place : places()) most = std::max(most, epsilon_of(place));
  return most;
}

double Account::epsilon_left() const {
  // Twelve places are what caps and pure charges are counted in; the rest of a difference is noise
  // of the subtraction.
  return std::max(0.0, std::floor((dataset_.epsilon - epsilon()) * 1e12 + 0.5) / 1e12);
}

double Account::left() const {
  return dataset_.rho > 0 ? std::max(0.0, dataset_.rho - rho()) : epsilon_left();
}

void Account::check_plan() const {
  if (plan_.empty()) return;
  Used all;
  for (const Run& run : plan_) all.push_back(run.count);
  const double cost = plan_epsilon(plan_, all, dataset_);
  if (cost > dataset_.epsilon)
    throw BudgetExceeded(fmt::format("the plan costs epsilon = {} at delta = {}, the cap is {}",
                                     round_up(cost), dataset_.delta, dataset_.epsilon),
                         "plan fewer or noisier releases, or raise the cap");
}

double Account::rho() const {
  double most = 0;
  for (const std::string& place : places()) most = std::max(most, budget_->rho(total(place)));
  return most;
}

}  // namespace sotto::ledger
