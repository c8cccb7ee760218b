// sotto ledger show: a table with bars for people, the same as JSON for programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "ledger.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/ledger/history.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
  ledger::Account account;
  std::vector<ledger::Release> releases;
  std::optional<Bound> fixed;

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

std::string time_text(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &utc);
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

Json release_json(const ledger::Release& r) {
  return {{"entry", r.entry}, {"time", time_text(r.time)},
          {"state", r.state}, {"key", r.key},
          {"part", r.part},   {"purpose", r.purpose},
          {"by", r.by},       {"events", Json::parse(r.events)}};
}

Json line_json(const Line& l, std::size_t newest) {
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
  json["releases"] = l.releases.size();
  json["open_reservations"] = l.open();
  json["owner"] = d.owner;
  json["purposes"] = d.purposes;
  json["parts"] = Json::array();
  for (const std::string& part : d.parts) {
    json["parts"].push_back(
        {{"name", part},
         {"epsilon_spent",
          l.account.has_epsilon() ? Json(l.account.epsilon_of(part)) : Json(nullptr)}});
  }
  if (newest > 0) {
    json["newest"] = Json::array();
    const std::size_t from = l.releases.size() - std::min(newest, l.releases.size());
    for (std::size_t i = from; i < l.releases.size(); ++i)
      json["newest"].push_back(release_json(l.releases[i]));
  }
  return json;
}

void print_releases(const Line& l, std::size_t newest, Context& context) {
  const std::size_t from = l.releases.size() - std::min(newest, l.releases.size());
  std::size_t width = 3;
  for (std::size_t i = from; i < l.releases.size(); ++i)
    width = std::max(width, columns(l.releases[i].key));
  for (std::size_t i = from; i < l.releases.size(); ++i) {
    const ledger::Release& r = l.releases[i];
    std::string rest;
    for (const std::string& text : {r.part, r.purpose, r.by}) {
      if (!text.empty()) rest += "  " + text;
    }
    context.out.print("    {:>7}  {}  {:<9}  {}{}\n", r.entry, time_text(r.time), r.state,
                      rest.empty() ? r.key : padded(r.key, width), rest);
  }
}

void print_line(const Line& l, std::size_t width, std::size_t newest, Context& context) {
  const ledger::Dataset& d = l.set();
  const double share = l.spent() / l.cap();
  context.out.print("{}  {:>10}  {:>10}  {:>10}  {} {:>3.0f} %\n", padded(d.name, width),
                    fmt::format("{:.6g}", l.cap()), round_up(l.spent(), 4), round_down(l.left(), 4),
                    bar(share), std::ceil(100 * std::min(1.0, share)));
  std::string facts = fmt::format("{}, {}, {}, one {}", l.rho() ? "rho" : "epsilon",
                                  d.delta > 0 ? fmt::format("delta = {}", d.delta) : "pure",
                                  name(d.relation), d.unit);
  if (!d.owner.empty()) facts += ", owner " + d.owner;
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
  if (l.fixed && !l.releases.empty())
    context.out.print("    epsilon = {} if all releases had been fixed in advance ({})\n",
                      round_up(l.fixed->upper, 4), name(l.fixed->accountant));
  print_releases(l, newest, context);
}

}  // namespace

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
  std::vector<Line> lines;
  for (ledger::Account& a : ledger.accounts()) {
    if (!only.empty() && a.dataset().name != only) continue;
    Line line{std::move(a), {}, {}};
    line.releases = ledger::releases(entries[line.set().name]);
    line.fixed = ledger::fixed_in_advance(line.set(), line.releases);
    lines.push_back(std::move(line));
  }
  if (!only.empty() && lines.empty())
    throw InvalidArgument(fmt::format("the ledger has no data set '{}'", only));
  if (arguments.flag("json")) {
    Json json = {{"schema", 1},
                 {"store", ledger.store()},
                 {"entries", last.seq},
                 {"head", last.hash},
                 {"datasets", Json::array()}};
    for (const Line& l : lines) json["datasets"].push_back(line_json(l, newest));
    context.out.print("{}\n", json.dump());
    return;
  }
  std::size_t width = 8;
  for (const Line& l : lines) width = std::max(width, columns(l.set().name));
  context.out.print(
      "{}\n", context.bold(fmt::format("{}  {:>10}  {:>10}  {:>10}", padded("data set", width),
                                       "budget", "spent", "left")));
  for (const Line& l : lines) print_line(l, width, newest, context);
  context.out.print("{} entries, head {}\n", last.seq, last.hash);
}

}  // namespace sotto::cli
