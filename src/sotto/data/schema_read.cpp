// A schema document (TOML or JSON, both as a JSON tree by now) becomes a Schema, or an error that
// says what is wrong and where.
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/data/detail/schema_columns.hpp"

namespace sotto::detail {
namespace {

using Json = nlohmann::ordered_json;

void check_role(const SchemaPlace& document, const Schema& schema, Role role) {
  std::vector<std::string> names;
  for (const ColumnSchema& c : schema.columns) {
    if (c.role == role) names.push_back(c.name);
  }
  if (names.size() > 1) {
    document.at("columns").fail(fmt::format("has {} columns with role {}: {}", names.size(),
                                            name(role), fmt::join(names, ", ")),
                                "at most one is allowed");
  }
}

void read_unit(const SchemaPlace& document, Schema& schema) {
  const bool has_user = schema.user() != nullptr;
  schema.unit = has_user ? Unit::user : Unit::record;
  if (document.has("unit")) {
    schema.unit = document.at("unit").one_of({Unit::record, Unit::user});
    if (schema.unit == Unit::user && !has_user) {
      document.at("unit").fail("is 'user', but no column has role = \"user\"");
    }
    if (schema.unit == Unit::record && has_user) {
      document.at("unit").fail("is 'record', but a column has role = \"user\"",
                               "set its role to \"ignore\", or the unit to \"user\"");
    }
  }
  if (document.has("max_contributions")) {
    const SchemaPlace at = document.at("max_contributions");
    schema.max_contributions = at.count();
    if (schema.unit != Unit::user) at.fail("needs a column with role = \"user\"");
  } else if (schema.unit == Unit::user) {
    document.fail("the schema protects users but has no max_contributions",
                  "add max_contributions = k, the number of records kept of one user");
  }
  // An estimate counts rows, however many of them one user has.
  if (schema.drafted && schema.unit == Unit::user)
    document.at("drafted").fail("is an estimate that protects one record, the schema one user",
                                "declare the facts from public knowledge, or leave out the user");
}

SchemaDraft read_draft(const SchemaPlace& place, Relation relation,
                       const ProblemCollector& collect) {
  SchemaDraft draft;
  place.expect_table();
  place.only_keys({"relation", "epsilon", "delta", "events"}, collect);
  for (const char* key : {"relation", "epsilon", "delta", "events"})
    if (!place.has(key)) place.fail(fmt::format("has no {}", key), "sotto schema draft wrote it");
  draft.relation = place.at("relation")
                       .one_of({Relation::add_remove, Relation::replace_one, Relation::zero_out});
  if (draft.relation != relation)
    place.at("relation")
        .fail("is not that of the schema: the estimate is about other neighbours",
              "keep the relation it was drafted under, or draft again");
  draft.epsilon = place.at("epsilon").number();
  draft.delta = place.at("delta").number();
  if (draft.epsilon < 0) place.at("epsilon").fail("must not be negative");
  if (draft.delta < 0 || draft.delta >= 1) place.at("delta").fail("must be in [0, 1)");
  const SchemaPlace events = place.at("events");
  if (!events.json().is_string()) events.fail("must be a text: a list of events as JSON");
  try {
    const Json list = parse_json(events.json().get<std::string>(), "it");
    if (!list.is_array() || list.empty()) events.fail("must be a list of events");
    for (const Json& event : list) draft.events.push_back(event_from_json(event));
  } catch (const Error& error) {
    events.fail(fmt::format("holds no events: {}", error.what()));
  }
  return draft;
}

}  // namespace

Schema read_schema(const Json& json, const Positions& positions,
                   std::vector<SchemaProblem>& problems) {
  const SchemaPlace document(json, "", positions);
  const ProblemCollector collect(problems);
  Schema schema;
  if (!collect([&] { document.expect_table(); })) return schema;
  document.only_keys({"relation", "rows", "unit", "max_contributions", "feature_norm", "scaling",
                      "basis", "missing_values", "drafted", "columns"},
                     collect);
  collect([&] {
    if (!document.has("relation")) {
      document.fail("has no relation",
                    "add relation = \"add_remove\" (the number of rows is private) or "
                    "\"replace_one\" (it is public)");
    }
    schema.relation =
        document.at("relation")
            .one_of({Relation::add_remove, Relation::replace_one, Relation::zero_out});
  });
  collect([&] {
    if (document.has("rows")) schema.rows = document.at("rows").count();
  });
  collect([&] {
    if (!document.has("feature_norm")) return;
    schema.feature_norm = document.at("feature_norm").number();
    if (!(*schema.feature_norm >= 1e-9)) document.at("feature_norm").fail("must be at least 1e-9");
  });
  collect([&] {
    if (document.has("scaling"))
      schema.scaling = document.at("scaling").one_of({Scaling::symmetric, Scaling::unit});
  });
  collect([&] {
    if (document.has("basis"))
      schema.basis = document.at("basis").one_of(
          {NumericBasis::automatic, NumericBasis::linear, NumericBasis::hats});
  });
  collect([&] {
    if (document.has("missing_values"))
      schema.missing_values = document.at("missing_values").texts();
  });
  collect([&] {
    if (document.has("drafted"))
      schema.drafted = read_draft(document.at("drafted"), schema.relation, collect);
  });
  const bool has_columns = collect([&] {
    const std::string hint = "add a table [columns.NAME] for each column";
    if (!document.has("columns")) document.fail("has no columns", hint);
    document.at("columns").expect_table();
    if (document.at("columns").json().empty()) document.at("columns").fail("is empty", hint);
  });
  if (!has_columns) return schema;
  const SchemaPlace columns = document.at("columns");
  read_columns(columns, schema, collect);
  for (const Role role : {Role::target, Role::user})
    collect([&] { check_role(document, schema, role); });
  collect([&] { read_unit(document, schema); });
  return schema;
}

void raise(const std::vector<SchemaProblem>& problems, const std::string& label) {
  const SchemaProblem& first = problems.front();
  throw DataError(
      first.text(label) + (problems.size() > 1
                               ? fmt::format(" (1 of {} problems; 'sotto schema check' lists them)",
                                             problems.size())
                               : std::string()),
      first.hint);
}

}  // namespace sotto::detail

namespace sotto {

std::string SchemaProblem::text(const std::string& label) const {
  return fmt::format("{}{}: {}{}", label, line ? fmt::format(", line {}", line) : std::string(),
                     where.empty() ? "" : where + " ", what);
}

}  // namespace sotto
