#include "sotto/ledger/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/ledger/account.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;

std::vector<Event> events_of(const Json& list) {
  std::vector<Event> events;
  for (const Json& e : list) events.push_back(event_from_json(nlohmann::ordered_json(e)));
  return events;
}

std::string words_of(const Event& event) {
  if (const auto* e = event.get_if<RepeatEvent>())
    return fmt::format("{} × {}", e->count, words_of(*e->event));
  if (const auto* e = event.get_if<SampledEvent>()) return "sampled " + words_of(*e->event);
  if (const auto* e = event.get_if<ComposeEvent>()) return in_words(e->events);
  return std::string(event.name());
}

class Teller {
 public:
  void tell(const Entry& e) {
    if (e.kind == "dataset") {
      account_.emplace(definition(e));
    } else if (e.kind == "reserve" || e.kind == "charge") {
      charge(e);
    } else if (e.kind == "commit" || e.kind == "abandon") {
      settle(e);
    } else if (e.kind == "refuse") {
      Line line = line_of(e, "refusal");
      line.state = e.json.at("reason").get<std::string>();
      line.key = e.json.at("asked").get<std::string>();
      add(std::move(line), e.json.at("events"));
    } else if (e.kind == "decision") {
      decide(e);
    }
  }

  Story finish(std::size_t newest) {
    std::map<std::string, std::optional<double>> known;
    const std::size_t all = story_.lines.size();
    for (std::size_t i = all - std::min(newest, all); i < all; ++i) {
      if (events_[i].is_null() || !definitions_[i]) continue;
      const Dataset& d = *definitions_[i];
      const std::string key = events_[i].dump() + fmt::format("{}", d.delta);
      if (!known.contains(key)) known[key] = own(d, events_of(events_[i]));
      story_.lines[i].own = known[key];
    }
    return std::move(story_);
  }

 private:
  static Dataset definition(const Entry& e) {
    Dataset d = dataset_from_json(e.json.at("definition"));
    d.name = e.dataset;
    return d;
  }

  static std::optional<double> own(const Dataset& d, const std::vector<Event>& events) {
    try {
      return guarantee(Spec{d.relation, events}, d.delta).upper;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) throw;
      return std::nullopt;  // no number at this δ
    }
  }

  Line line_of(const Entry& e, const char* kind) const {
    Line line{.entry = e.seq, .time = e.json.at("time").get<std::int64_t>(), .kind = kind};
    line.by = e.json.value("by", "");
    line.why = e.json.value("purpose", "");
    line.part = e.json.value("part", "");
    line.what = e.json.value("what", "");
    line.period = story_.periods - 1;
    if (line.what.empty() && e.json.contains("events"))
      line.what = in_words(events_of(e.json.at("events")));
    return line;
  }

  void add(Line line, Json events) {
    story_.lines.push_back(std::move(line));
    events_.push_back(std::move(events));
    definitions_.push_back(account_ ? std::optional(account_->dataset()) : std::nullopt);
  }

  double spent() const { return account_->has_epsilon() ? account_->epsilon() : account_->rho(); }

  void charge(const Entry& e) {
    if (!account_) return;
    Line line = line_of(e, "release");
    line.state = e.kind == "charge" ? "committed" : "reserved";
    line.key = e.json.at("key").get<std::string>();
    const double before = spent();
    account_->charge(compose(events_of(e.json.at("events"))), line.part);
    if (account_->has_epsilon())
      line.added = std::max(0.0, std::round((spent() - before) * 1e12) / 1e12);
    if (e.json.contains("this_data"))
      line.this_data = e.json.at("this_data").at("epsilon").get<double>();
    place_[e.seq] = story_.lines.size();
    add(std::move(line), e.json.at("events"));
  }

  void settle(const Entry& e) {
    const auto it = place_.find(e.json.at("entry").get<std::int64_t>());
    if (it == place_.end()) return;
    Line& line = story_.lines[it->second];
    line.state = e.kind == "commit" ? "committed" : "abandoned";
    const std::string result = e.json.value("result", "");
    line.result = result.substr(0, result.find(' '));  // a run's state may follow
    if (e.kind == "commit" && e.json.contains("this_data"))
      line.this_data = e.json.at("this_data").at("epsilon").get<double>();
    if (e.kind == "abandon") {
      if (line.this_data) line.this_data = 0;
      account_->refund(compose(events_of(events_[it->second])), line.part);
      line.added = 0;
    }
  }

  void decide(const Entry& e) {
    const std::string what = e.json.at("decision").get<std::string>();
    const Account before = std::move(*account_);
    account_.emplace(definition(e));
    if (what == "renew") ++story_.periods;
    // Raised or closed: the releases of this period stay spent, counted under the new cap.
    for (std::size_t i = 0; what != "renew" && i < story_.lines.size(); ++i) {
      const Line& line = story_.lines[i];
      if (line.kind == "release" && line.state != "abandoned" && line.period + 1 == story_.periods)
        account_->charge(compose(events_of(events_[i])), line.part);
    }
    Line line = line_of(e, "decision");
    line.state = what;
    line.why = e.json.at("reason").get<std::string>();
    line.signer = e.json.value("signer", "");
    const Dataset& d = account_->dataset();
    const std::string cap = d.rho > 0 ? fmt::format("rho = {}", d.rho)
                                      : fmt::format("epsilon = {}, delta = {}", d.epsilon, d.delta);
    line.what = what == "close" ? "closed"
                                : fmt::format("{}ed to {}", what == "raise" ? "rais" : what, cap);
    add(std::move(line), nullptr);
  }

  Story story_;
  std::vector<Json> events_;                         // of each line
  std::vector<std::optional<Dataset>> definitions_;  // in force at each line
  std::map<std::int64_t, std::size_t> place_;
  std::optional<Account> account_;
};

}  // namespace

std::string in_words(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    const std::string words = words_of(event);
    if (text.size() + words.size() > 120) return text + ", …";
    text += (text.empty() ? "" : ", ") + words;
  }
  return text;
}

Story story(const std::vector<Entry>& entries, std::size_t newest) {
  Teller teller;
  for (const Entry& e : entries) {
    try {
      teller.tell(e);
    } catch (const nlohmann::json::exception&) {
      throw VerificationFailed(
          fmt::format("entry {} of the ledger lacks a field or has one of the wrong type", e.seq),
          "restore the store from a copy whose head you pinned");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) throw;
      throw VerificationFailed(
          fmt::format("entry {} of the ledger does not hold: {}", e.seq, error.what()),
          "sotto ledger verify checks the whole store");
    }
  }
  return teller.finish(newest);
}

}  // namespace sotto::ledger
