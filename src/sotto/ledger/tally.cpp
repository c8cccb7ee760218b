#include "sotto/ledger/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto::ledger {
namespace {

constexpr const char* kNothingCharged = "nothing was charged and no data was read";
constexpr double kWorthIt = .5;  // a δ is used where it lowers a pure ε to less than this share

std::optional<double> epsilon_at(const Spec& spec, double delta) {
  try {
    const double epsilon = guarantee(spec, delta).upper;
    return std::isfinite(epsilon) ? std::optional(epsilon) : std::nullopt;
  } catch (const AccountingError&) {
    return std::nullopt;
  }
}

bool is_number(const Statement& s) {
  return std::isfinite(s.epsilon) && s.epsilon >= 0 && s.delta >= 0 && s.delta < 1;
}
bool is_confidence(double c) { return c > .5 && c < 1; }

[[noreturn]] void broken(const Entry& e, const std::string& why) {
  throw VerificationFailed(fmt::format("entry {} of the ledger does not hold: {}", e.seq, why),
                           "nothing was charged; sotto ledger verify checks the whole store");
}

Event events_of_entry(const Entry& e) {
  std::vector<Event> events;
  for (const nlohmann::json& j : e.json.at("events"))
    events.push_back(event_from_json(nlohmann::ordered_json(j)));
  return compose(std::move(events));
}

}  // namespace

Tally::Tally(const Dataset& dataset) { follow(dataset); }

void Tally::follow(const Dataset& dataset) {
  name_ = dataset.name, cap_ = dataset.this_data_epsilon, largest_delta_ = dataset.delta;
}

// A pure release uses up no δ, or not the last of it; one with a δ of its own needs that much.
Statement Tally::without_statement(const Spec& spec) const {
  const double share = largest_delta_ * kShareOfDelta;
  const std::optional<double> pure = epsilon_at(spec, 0), approximate = epsilon_at(spec, share);
  ExactSum delta = delta_;
  delta.add(share);
  if (pure && (!approximate || *approximate >= kWorthIt * *pure || delta.upper() > largest_delta_))
    return {*pure, 0, 1};
  if (approximate) return {*approximate, share, 1};
  // A 64th of a tiny δ may be none.
  const double from = std::max(2 * share, std::numeric_limits<double>::denorm_min());
  for (double at = from; at <= largest_delta_; at *= 2)
    if (const std::optional<double> epsilon = epsilon_at(spec, at)) return {*epsilon, at, 1};
  throw BudgetExceeded(
      fmt::format("the release has no epsilon at delta = {}, which the tally of '{}' needs",
                  largest_delta_, name_),
      kNothingCharged);
}

Entered Tally::worst_of(const Spec& spec, const Announcement& announced) const {
  if (announced.delta > 0 && is_confidence(announced.confidence) &&
      least_statement(spec.event(), announced.delta)) {
    ExactSum risk = risk_;
    risk.add(1 - announced.confidence);
    const std::optional<double> epsilon = epsilon_at(spec, announced.delta);
    if (epsilon && risk.upper() <= kMostRisk)
      return {{*epsilon, announced.delta, 1}, announced.confidence};
  }
  return {without_statement(spec), 0};
}

void Tally::enter(std::int64_t entry, const Entered& entered) {
  ExactSum epsilon = epsilon_, delta = delta_, risk = risk_;
  epsilon.add(entered.guarantee.epsilon);
  delta.add(entered.guarantee.delta);
  if (entered.announced > 0) risk.add(1 - entered.announced);
  if (epsilon.upper() > cap_)
    throw BudgetExceeded(
        fmt::format("the tally of '{}' does not cover it: epsilon = {} about this data would pass "
                    "{}; {} left",
                    name_, round_up(entered.guarantee.epsilon, 4), cap_, round_down(left(), 4)),
        kNothingCharged);
  if (delta.upper() > largest_delta_)
    throw BudgetExceeded(
        fmt::format("the tally of '{}' does not cover it: its entries would have delta = {} "
                    "together, above {}",
                    name_, round_up(delta.upper(), 3), largest_delta_),
        fmt::format("{}; {}", kNothingCharged,
                    entered.announced > 0 ? "ask for a smaller delta"
                                          : "releases without a delta still have room"));
  if (risk.upper() > kMostRisk)
    throw BudgetExceeded(
        fmt::format("the tally of '{}' does not cover it: its statements would be wrong with "
                    "probability {}",
                    name_, round_up(risk.upper(), 3)),
        kNothingCharged);
  all_.insert_or_assign(entry, entered);
  epsilon_ = epsilon, delta_ = delta, risk_ = risk;
}

bool Tally::lower(std::int64_t entry, const Statement& said, const Event& events) {
  const auto it = all_.find(entry);
  if (it == all_.end() || it->second.announced == 0) return false;
  Statement& now = it->second.guarantee;
  const std::optional<double> least = least_statement(events, said.delta);
  if (now.confidence != 1 || !is_number(said) || !(said.epsilon < now.epsilon) ||
      said.delta != now.delta || said.confidence != it->second.announced || !least ||
      !(said.epsilon >= *least))
    return false;
  epsilon_.subtract(ExactSum(now.epsilon));
  epsilon_.add(said.epsilon);
  now = said;
  return true;
}

void Tally::take_out(std::int64_t entry) {
  const auto it = all_.find(entry);
  if (it == all_.end()) return;
  epsilon_.subtract(ExactSum(it->second.guarantee.epsilon));
  delta_.subtract(ExactSum(it->second.guarantee.delta));
  all_.erase(it);
}

void Tally::draw_again(std::int64_t entry) {
  const auto it = all_.find(entry);
  if (it == all_.end() || it->second.announced == 0) return;
  ExactSum risk = risk_;
  risk.add(1 - it->second.announced);
  if (risk.upper() <= kMostRisk) {
    risk_ = risk;
  } else {
    it->second.announced = 0;
  }
}

double Tally::confidence() const {
  const double one_less = 1 - risk();
  return 1 - one_less < risk() ? next_down(one_less) : one_less;
}

double Tally::failure() const {
  ExactSum sum = risk_;
  sum.add(delta_);
  return sum.upper();
}

double Tally::left() const { return std::max(0.0, next_down(cap_ - epsilon())); }

// The smooth release and that of its scale come last, and once. A statement is made at an order
// below ω, where nothing costs less than no divergence at ω.
std::optional<double> least_statement(const Event& events, double delta) {
  const auto* all = events.get_if<ComposeEvent>();
  if (all == nullptr || all->events.size() < 3 || !(delta > 0 && delta < 1)) return std::nullopt;
  const std::vector<Event>& list = all->events;
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < list.size(); ++i)
    pairs += list[i - 1].get_if<TcdpEvent>() && list[i].get_if<DiscreteGaussianEvent>() ? 1 : 0;
  const auto* smooth = list[list.size() - 2].get_if<TcdpEvent>();
  if (pairs != 1 || smooth == nullptr || !list.back().get_if<DiscreteGaussianEvent>() ||
      !(smooth->omega > 1))
    return std::nullopt;
  // Falls with the order up to 1/δ.
  const double order = std::min(smooth->omega, 1 / delta);
  const double least = (-std::log(delta) - std::log(order)) / (order - 1) + std::log1p(-1 / order);
  return std::max(0.0, widen_down(least, 1e-9));
}

Tally tally_of(const Dataset& dataset, const std::vector<Entry>& entries) {
  Tally tally(dataset);
  if (!tally.active()) return tally;
  std::map<std::int64_t, const Entry*> reserved;
  // The newest period begins with nothing, whatever was written before, but under the cap that the
  // data set was created with.
  for (const Entry& e : entries)
    if (e.kind == "dataset" &&
        dataset_from_json(e.json.at("definition")).this_data_epsilon != dataset.this_data_epsilon)
      broken(e, "its tally is another one");
  const auto begin = std::ranges::find_if(entries.rbegin(), entries.rend(), [](const Entry& e) {
    return e.kind == "decision" && e.json.value("decision", "") == "renew";
  });
  for (const Entry& e :
       std::span(entries).subspan(begin == entries.rend() ? 0 : entries.rend() - begin - 1)) {
    try {
      const bool has = e.json.contains("this_data");
      if (e.kind == "reserve" || e.kind == "charge") {
        if (!has) broken(e, "its tally was not charged");
        tally.enter(e.seq, entered_from_json(e.json.at("this_data")));
        reserved[e.seq] = &e;
      } else if (e.kind == "commit" && has) {
        const auto it = reserved.find(e.json.at("entry").get<std::int64_t>());
        if (it == reserved.end() ||
            !tally.lower(it->first, statement_from_json(e.json.at("this_data")),
                         events_of_entry(*it->second)))
          broken(e, "what it says about this data does not count");
      } else if (e.kind == "abandon") {
        tally.take_out(e.json.at("entry").get<std::int64_t>());
      } else if (e.kind == "resume") {
        tally.draw_again(e.json.at("resumes").get<std::int64_t>());
      } else if (e.kind == "dataset" || e.kind == "decision") {
        Dataset then = dataset_from_json(e.json.at("definition"));
        then.name = e.dataset;
        if (then.this_data_epsilon != dataset.this_data_epsilon) broken(e, "it changes the tally");
        if (e.json.value("decision", "") == "renew") tally = Tally(then);
        tally.follow(then);
      }
    } catch (const BudgetExceeded&) {
      broken(e, "its tally did not cover it");
    } catch (const DataError& error) {
      broken(e, error.what());
    } catch (const nlohmann::json::exception&) {
      broken(e, "it lacks a field or has one of the wrong type");
    }
  }
  return tally;
}

nlohmann::json to_json(const Statement& s) {
  return {{"epsilon", s.epsilon}, {"delta", s.delta}, {"confidence", s.confidence}};
}

nlohmann::json to_json(const Entered& e) {
  nlohmann::json json = to_json(e.guarantee);
  if (e.announced > 0) json["announced"] = e.announced;
  return json;
}

Statement statement_from_json(const nlohmann::json& json) {
  const Statement s{json.at("epsilon").get<double>(), json.at("delta").get<double>(),
                    json.at("confidence").get<double>()};
  if (!is_number(s) || !(s.confidence > 0 && s.confidence <= 1))
    throw DataError("what it says about this data is no statement");
  return s;
}

Entered entered_from_json(const nlohmann::json& json) {
  const Entered e{statement_from_json(json), json.value("announced", 0.0)};
  if (e.guarantee.confidence != 1 ||
      (json.contains("announced") && (!is_confidence(e.announced) || e.guarantee.delta == 0)))
    throw DataError("its tally was charged no guarantee");
  return e;
}

}  // namespace sotto::ledger
