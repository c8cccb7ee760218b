#include "sotto/ledger/dataset.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/core/text.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;

void check_list(std::string_view what, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& n : names) {
    check_text(what, n);
    if (!seen.insert(n).second)
      throw InvalidArgument(fmt::format("the {} '{}' is named twice", what, n));
  }
}

// Milliseconds of an entry's time; 0 where there are none.
std::int64_t moment(const Json& json, const char* name) {
  if (!json.contains(name)) return 0;
  return static_cast<std::int64_t>(json_count(json.at(name), name, std::uint64_t{1} << 60));
}

}  // namespace

void check_text(std::string_view what, std::string_view text, std::size_t longest) {
  if (text.empty()) throw InvalidArgument(fmt::format("the {} is empty", what));
  if (text.size() > longest)
    throw InvalidArgument(
        fmt::format("the {} has {} bytes; at most {} are allowed", what, text.size(), longest));
  for (std::size_t i = 0; i < text.size();) {
    const long point = next_code_point(text, i);
    if (point < 0) throw InvalidArgument(fmt::format("the {} is not valid UTF-8", what));
    if (is_invisible(point))
      throw InvalidArgument(
          fmt::format("the {} contains the invisible character U+{:04X}", what, point),
          "use letters, digits, spaces and signs");
  }
}

void check(const Dataset& d) {
  check_text("name of the data set", d.name);
  check_text("unit", d.unit);
  if (!d.owner.empty()) check_text("owner", d.owner);
  check_list("part", d.parts);
  check_list("purpose", d.purposes);
  check_list("column", d.columns);
  if (!d.fingerprint.empty()) check_text("fingerprint", d.fingerprint);
  if (!d.owner_key.empty()) (void)key_fingerprint(d.owner_key);
  if (!d.period.empty()) (void)end_of_period(d.from, d.period);
  if (d.until != 0 && d.until <= d.from)
    throw InvalidArgument("the period ends before it begins", "`from` is the first day");
  if (!d.people.empty()) {
    check_text("data set of the same people", d.people);
    if (d.people == d.name || !d.parts.empty() || d.accountant == Accountant::pld)
      throw InvalidArgument(
          "a data set that shares a budget with others has no parts and no plan, and is not its "
          "own",
          "name another data set, created before");
  }
  if (!d.parts.empty() && d.relation == Relation::replace_one) {
    throw InvalidArgument(
        "parts need the relation add_remove or zero_out: a replaced record may move from one part "
        "to another and would be in both",
        "use add_remove");
  }
  if ((d.accountant == Accountant::pld) != !d.plan.empty())
    throw InvalidArgument(
        "the pld accountant and a plan go together: loss distributions only account for releases "
        "that are fixed in advance",
        "give `plan` SPEC with `accountant` pld, or use rdp, zcdp or gdp");
  if (d.this_data_epsilon != 0 &&
      (!(d.this_data_epsilon > 0) || !std::isfinite(d.this_data_epsilon) || d.rho != 0 ||
       !(d.delta > 0) || !d.parts.empty() || !d.people.empty() || !d.plan.empty()))
    throw InvalidArgument(
        "a tally of this data goes with a cap in epsilon and delta, and with no parts, plan or "
        "shared budget",
        "give `epsilon` and `delta` beside it");
  if (d.accountant == Accountant::pld && !d.parts.empty())
    throw InvalidArgument("a plan has no parts", "declare the parts as events of the plan");
  if (d.accountant == Accountant::pld && (d.rho != 0 || d.delta == 0))
    throw InvalidArgument("the pld accountant needs a cap in epsilon and delta");
}

nlohmann::json to_json(const Dataset& d) {
  Json json = {{"accountant", name(d.accountant)},
               {"relation", name(d.relation)},
               {"unit", d.unit},
               {"delta", d.delta},
               {"owner", d.owner},
               {"parts", d.parts},
               {"purposes", d.purposes}};
  if (d.rho != 0) {
    json["rho"] = d.rho;
  } else {
    json["epsilon"] = d.epsilon;
    json["own_delta"] = d.own_delta;
  }
  if (d.this_data_epsilon != 0) json["this_data_epsilon"] = d.this_data_epsilon;
  if (!d.owner_key.empty()) json["owner_key"] = d.owner_key;
  if (d.from != 0) json["from"] = d.from;
  if (d.until != 0) json["until"] = d.until;
  if (!d.period.empty()) json["period"] = d.period;
  if (d.closed) json["closed"] = true;
  if (!d.people.empty()) json["people"] = d.people;
  if (!d.columns.empty()) json["columns"] = d.columns;
  if (!d.fingerprint.empty()) json["fingerprint"] = d.fingerprint;
  if (!d.plan.empty()) {
    for (const Event& e : d.plan) json["plan"].push_back(Json(sotto::to_json(e)));
  }
  return json;
}

Dataset dataset_from_json(const nlohmann::json& json) {
  try {
    Dataset d;
    d.accountant = parse_accountant(json.at("accountant").get<std::string>());
    d.relation = parse_relation(json.at("relation").get<std::string>());
    d.unit = json.at("unit").get<std::string>();
    d.delta = json.at("delta").get<double>();
    d.owner = json.at("owner").get<std::string>();
    d.parts = json.at("parts").get<std::vector<std::string>>();
    d.purposes = json.at("purposes").get<std::vector<std::string>>();
    if (json.contains("rho")) {
      d.rho = json.at("rho").get<double>();
    } else {
      d.epsilon = json.at("epsilon").get<double>();
      d.own_delta = json.at("own_delta").get<double>();
    }
    d.this_data_epsilon = json.value("this_data_epsilon", 0.0);
    d.owner_key = json.value("owner_key", "");
    d.from = moment(json, "from");
    d.until = moment(json, "until");
    d.period = json.value("period", "");
    d.closed = json.value("closed", false);
    d.people = json.value("people", "");
    if (json.contains("columns")) d.columns = json.at("columns").get<std::vector<std::string>>();
    d.fingerprint = json.value("fingerprint", "");
    if (json.contains("plan")) {
      for (const Json& e : json.at("plan"))
        d.plan.push_back(event_from_json(nlohmann::ordered_json(e)));
    }
    return d;
  } catch (const nlohmann::json::exception&) {
    throw DataError("the definition of a data set lacks a field or has one of the wrong type");
  } catch (const InvalidArgument& e) {
    throw DataError(e.what(), e.hint());
  }
}

}  // namespace sotto::ledger
