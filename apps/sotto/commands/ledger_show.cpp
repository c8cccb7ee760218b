// sotto ledger show: a table with bars for people, the same as JSON for programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ledger.hpp"
#include "paid/charge.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/period.hpp"
#include "sotto/ledger/report.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LedgerLine {
  ledger::Account account;
  std::vector<ledger::Release> releases;  // of this period
  std::vector<ledger::Line> newest;
  std::optional<Bound> fixed;
  std::optional<ledger::Tally> this_data;

  const ledger::Dataset& set() const { return account.dataset(); }
  bool rho() const { return set().rho > 0; }
  double cap() const { return rho() ? set().rho : set().epsilon; }
  double spent() const { return rho() ? account.rho() : account.epsilon(); }
  double left() const { return rho() ? std::max(0.0, cap() - spent()) : account.epsilon_left(); }
  std::size_t open() const {
    return static_cast<std::size_t>(
        std::ranges::count(releases, "reserved", &ledger::Release::state));
  }
};

std::string bar(double share, int width = 20) {
  const int full = static_cast<int>(std::ceil(std::clamp(share, 0.0, 1.0) * width));
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

// How many columns the text takes; wide scripts count once, which only bends the table.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}
std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > columns(text) ? width - columns(text) : 0, ' ');
}

Json release_json(const ledger::Line& r) {
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  return {{"entry", r.entry},
          {"time", ledger::iso_time(r.time)},
          {"kind", r.kind},
          {"state", r.state},
          {"what", r.what},
          {"epsilon_own", number(r.own)},
          {"epsilon_added", number(r.added)},
          {"epsilon_this_data", number(r.this_data)},
          {"key", r.key},
          {"part", r.part},
          {"purpose", r.why},
          {"by", r.by}};
}

Json line_json(const LedgerLine& l) {
  const ledger::Dataset& d = l.set();
  Json json = {{"name", d.name},
               {"unit", d.unit},
               {"relation", name(d.relation)},
               {"accountant", name(d.accountant)}};
  if (l.rho()) {
    json["rho"] = d.rho;
    json["rho_spent"] = l.spent();
    json["rho_left"] = l.left();
  } else {
    json["epsilon"] = d.epsilon;
  }
  json["delta"] = d.delta;
  json["epsilon_spent"] = l.account.has_epsilon() ? Json(l.account.epsilon()) : Json(nullptr);
  json["epsilon_left"] = l.rho() ? Json(nullptr) : Json(l.left());
  json["epsilon_if_fixed_in_advance"] = l.fixed ? Json(l.fixed->upper) : Json(nullptr);
  json["fixed_in_advance_accountant"] = l.fixed ? Json(name(l.fixed->accountant)) : Json(nullptr);
  if (l.this_data) json["this_data"] = tally_json(*l.this_data);
  json["releases"] = l.releases.size();
  json["open_reservations"] = l.open();
  json["owner"] = d.owner;
  json["purposes"] = d.purposes;
  if (!d.columns.empty()) json["columns"] = d.columns;
  if (!d.fingerprint.empty()) json["fingerprint"] = d.fingerprint;
  json["parts"] = Json::array();
  for (const std::string& part : d.parts) {
    json["parts"].push_back(
        {{"name", part},
         {"epsilon_spent",
          l.account.has_epsilon() ? Json(l.account.epsilon_of(part)) : Json(nullptr)}});
  }
  if (d.from > 0) json["from"] = ledger::iso_time(d.from);
  if (d.until > 0) json["until"] = ledger::iso_time(d.until);
  if (!d.period.empty()) json["period"] = d.period;
  json["closed"] = d.closed;
  if (!d.people.empty()) json["people"] = d.people;
  if (!l.newest.empty()) json["newest"] = Json::array();
  for (const ledger::Line& line : l.newest) json["newest"].push_back(release_json(line));
  return json;
}

void print_releases(const LedgerLine& l, Context& context) {
  std::size_t width = 3;
  for (const ledger::Line& r : l.newest) width = std::max(width, columns(r.what));
  for (const ledger::Line& r : l.newest) {
    const std::string cost =
        r.own ? fmt::format("epsilon {}{}", round_up(*r.own, 4),
                            r.added ? fmt::format(" (added {})", round_up(*r.added, 4)) : "")
              : "";
    std::string rest;
    for (const std::string& text : {cost, r.part, r.by, r.why}) {
      if (!text.empty()) rest += "  " + text;
    }
    context.out.print("    {:>7}  {}  {:<9}  {}{}\n", r.entry, ledger::iso_time(r.time),
                      r.kind == "refusal" ? "refused" : r.state, padded(r.what, width), rest);
  }
}

void print_line(const LedgerLine& l, std::size_t width, Context& context) {
  const ledger::Dataset& d = l.set();
  const double share = l.spent() / l.cap();
  context.out.print("{}  {:>10}  {:>10}  {:>10}  {} {:>3.0f} %\n", padded(d.name, width),
                    fmt::format("{:.6g}", l.cap()), round_up(l.spent(), 4), round_down(l.left(), 4),
                    bar(share), std::ceil(100 * std::min(1.0, share)));
  std::string facts = fmt::format("{}, {}, {}, one {}", l.rho() ? "rho" : "epsilon",
                                  d.delta > 0 ? fmt::format("delta = {}", d.delta) : "pure",
                                  name(d.relation), d.unit);
  if (!d.owner.empty()) facts += ", owner " + d.owner;
  if (!d.columns.empty()) facts += ", bound to its columns";
  if (!d.fingerprint.empty()) facts += ", bound to its data";
  if (d.until > 0) facts += ", until " + ledger::iso_day(d.until);
  if (d.closed) facts += ", closed";
  if (!d.people.empty()) facts += ", shares the budget of " + d.people;
  facts += fmt::format("; {} {} by {}", l.releases.size(),
                       l.releases.size() == 1 ? "release" : "releases", name(d.accountant));
  if (l.open() > 0) facts += fmt::format(", {} reserved and not committed", l.open());
  context.out.print("    {}\n", facts);
  for (const std::string& part : d.parts) {
    if (!l.account.has_epsilon()) break;
    const double spent = l.account.epsilon_of(part);
    context.out.print("    part {}: {} spent  {}\n", part, round_up(spent, 4),
                      bar(spent / l.cap()));
  }
  if (l.this_data)
    context.out.print("    this data: {} of {} {}  {}\n", round_up(l.this_data->epsilon(), 4),
                      l.this_data->cap(), tally_text(*l.this_data),
                      bar(l.this_data->epsilon() / l.this_data->cap()));
  if (l.fixed && !l.releases.empty())
    context.out.print("    epsilon = {} if all releases had been fixed in advance ({})\n",
                      round_up(l.fixed->upper, 4), name(l.fixed->accountant));
  print_releases(l, context);
}

using Unreadable = std::map<std::string, std::string>;  // data set → why

LedgerLine line_of(ledger::Account account, const std::vector<ledger::Entry>& own,
                   std::size_t newest) {
  LedgerLine line{std::move(account), {}, {}, {}, {}};
  if (line.set().this_data_epsilon > 0) line.this_data = ledger::tally_of(line.set(), own);
  line.releases = ledger::releases_of_period(own);
  if (newest > 0) {
    line.newest = ledger::story(own, newest).lines;
    line.newest.erase(line.newest.begin(), line.newest.end() - static_cast<std::ptrdiff_t>(std::min(
                                                                   newest, line.newest.size())));
  }
  line.fixed = ledger::fixed_in_advance(line.set(), line.releases);
  // What printing asks for is asked here, where one data set can fail alone.
  (void)line.spent();
  (void)line.left();
  if (line.account.has_epsilon())
    for (const std::string& part : line.set().parts) (void)line.account.epsilon_of(part);
  return line;
}

// Said after everything that can be read.
void check_all_read(const Unreadable& unreadable, Context& context) {
  if (unreadable.empty()) return;
  context.out.flush();
  const auto& [name, why] = *unreadable.begin();
  throw VerificationFailed(fmt::format("the data set '{}' cannot be read: {}", name, why),
                           "sotto ledger verify checks the whole store");
}

}  // namespace

std::string tally_text(const ledger::Tally& tally) {
  return fmt::format(
      "spent, added up at delta = {}, confidence {}: holds except with probability {}",
      round_up(tally.delta(), 3), round_down(tally.confidence(), 4), round_up(tally.failure(), 3));
}

void run_ledger_show(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, ledger::OpenMode::read);
  const std::string only = arguments.given("dataset") ? arguments.text("dataset") : "";
  const std::size_t newest = arguments.given("entries") ? arguments.whole("entries") : 0;
  std::map<std::string, std::vector<ledger::Entry>> entries;
  ledger::Entry last;
  for (ledger::Entry& e : ledger.entries()) {
    last = e;
    entries[e.dataset].push_back(std::move(e));
  }
  std::vector<LedgerLine> lines;
  Unreadable unreadable;
  for (ledger::Account& a : ledger.accounts(&unreadable)) {
    const std::string name = a.dataset().name;
    if (!only.empty() && name != only) continue;
    try {
      lines.push_back(line_of(std::move(a), entries[name], newest));
    } catch (const Error& e) {
      if (e.code() == ErrorCode::internal) throw;
      unreadable.emplace(name, e.what());
    }
  }
  if (!only.empty()) std::erase_if(unreadable, [&](const auto& u) { return u.first != only; });
  if (!only.empty() && lines.empty() && unreadable.empty())
    throw InvalidArgument(fmt::format("the ledger has no data set '{}'", only));
  if (arguments.flag("json")) {
    Json json = {{"schema", 1},
                 {"store", ledger.store()},
                 {"entries", last.seq},
                 {"head", last.hash},
                 {"datasets", Json::array()}};
    for (const LedgerLine& l : lines) json["datasets"].push_back(line_json(l));
    for (const auto& [name, why] : unreadable)
      json["unreadable"].push_back({{"name", name}, {"why", why}});
    context.out.print("{}\n", json.dump());
    check_all_read(unreadable, context);
    return;
  }
  std::size_t width = 8;
  for (const LedgerLine& l : lines) width = std::max(width, columns(l.set().name));
  for (const auto& [name, why] : unreadable) width = std::max(width, columns(name));
  context.out.print(
      "{}\n", context.bold(fmt::format("{}  {:>10}  {:>10}  {:>10}", padded("data set", width),
                                       "budget", "spent", "left")));
  for (const LedgerLine& l : lines) print_line(l, width, context);
  for (const auto& [name, why] : unreadable)
    context.out.print("{}  cannot be read: {}\n", padded(name, width), why);
  context.out.print("{} entries, head {}\n", last.seq, last.hash);
  check_all_read(unreadable, context);
}

}  // namespace sotto::cli
