#include "sotto/ledger/roles.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/ledger/backend/detail/postgres_functions.hpp"

namespace sotto::ledger {
namespace {

constexpr const char* kTables = "sotto_schema, sotto_entries, sotto_datasets, sotto_spends";

std::string functions() { return fmt::format("{}, {}", kLockSignature, kAppendSignature); }

std::string text_of(const std::vector<Values>& rows) {
  return std::get<std::string>(rows.at(0).at(0));
}

// Names cannot be bound to GRANT; the server quotes them.
std::string quoted(Database& db, const std::string& role) {
  if (db.query("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1", {role}).empty())
    throw InvalidArgument(fmt::format("the server has no role '{}'", role),
                          "make it first: CREATE ROLE … LOGIN");
  return text_of(db.query("SELECT quote_ident($1::text)", {role}));
}

std::string schema_of(Database& db) {
  return text_of(db.query(
      "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON "
      "n.oid = c.relnamespace WHERE c.oid = 'sotto_entries'::regclass"));
}

Role now(Database& db, const std::string& name) {
  for (Role& role : roles(db)) {
    if (role.name == name) return role;
  }
  return {name};
}

}  // namespace

void grant(Database& db, const std::string& role, Right right) {
  const std::string who = quoted(db, role), schema = schema_of(db);
  Transaction t = Transaction::writing(db);
  db.run(fmt::format("GRANT USAGE ON SCHEMA {} TO {}", schema, who));
  db.run(fmt::format("GRANT SELECT ON {} TO {}", kTables, who));
  if (right == Right::charge)
    db.run(fmt::format("GRANT EXECUTE ON FUNCTION {} TO {}", functions(), who));
  const Role given = now(db, role);
  if (!given.reads || (right == Right::charge && !given.charges))  // the server only warns
    throw StorageError(fmt::format("the server did not give the role '{}' its rights", role),
                       "only the owner of the ledger's tables can");
  t.commit();
}

void revoke(Database& db, const std::string& role) {
  const std::string who = quoted(db, role);
  Transaction t = Transaction::writing(db);
  db.run(fmt::format("REVOKE ALL ON FUNCTION {} FROM {}", functions(), who));
  db.run(fmt::format("REVOKE ALL ON {} FROM {}", kTables, who));
  const Role left = now(db, role);
  if (left.reads || left.charges || left.writes)
    throw StorageError(
        fmt::format("the role '{}' keeps rights on the ledger", role),
        "it has them as owner, as superuser, by membership in another role or as everybody, or "
        "they are not yours to take; sotto ledger roles lists who may do what");
  t.commit();
}

// What a role may by itself or by SET ROLE, which a role that inherits nothing has to say first.
// Whoever may create objects in the schema can put them in the way of those who use the ledger.
std::vector<Role> roles(Database& db) {
  const std::string schema =
      text_of(db.query("SELECT quote_literal($1::text)", {schema_of(db)})) + "::regnamespace";
  std::string writes;
  for (const char* table : {"sotto_entries", "sotto_datasets", "sotto_spends", "sotto_schema"})
    writes += fmt::format(
        "has_table_privilege(r.name, '{0}', 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER') OR "
        "has_any_column_privilege(r.name, '{0}', 'INSERT, UPDATE') OR ",
        table);
  const auto rows = db.query(fmt::format(
      "WITH r AS (SELECT rolname::text AS name, oid FROM pg_catalog.pg_roles UNION SELECT "
      "'public', NULL), own AS (SELECT r.oid, r.name, has_table_privilege(r.name, 'sotto_entries', "
      "'SELECT') AS reads, has_function_privilege(r.name, '{}', 'EXECUTE') AS charges, {}false AS "
      "writes, has_schema_privilege(r.name, {}, 'CREATE') AS creates FROM r) SELECT member.name, "
      "bool_or(own.reads)::int, bool_or(own.charges)::int, bool_or(own.writes)::int, "
      "bool_or(own.creates)::int FROM r AS member JOIN own ON own.name = member.name OR "
      "pg_has_role(member.oid, own.oid, 'MEMBER') WHERE member.name !~ '^pg_' GROUP BY member.name "
      "HAVING bool_or(own.reads OR own.charges OR own.writes OR own.creates) ORDER BY member.name",
      kAppendSignature, writes, schema));
  std::vector<Role> all;
  for (const Values& row : rows) {
    const auto holds = [&](std::size_t i) { return row.at(i) == Value(std::int64_t{1}); };
    all.push_back({std::get<std::string>(row.at(0)), holds(1), holds(2), holds(3), holds(4)});
  }
  return all;
}

}  // namespace sotto::ledger
