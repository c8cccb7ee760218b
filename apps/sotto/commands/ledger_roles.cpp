// sotto ledger roles: who may read and who may charge a ledger on a server.
#include <fmt/format.h>

#include "ledger.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/roles.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
using ledger::Right;

std::string may(const ledger::Role& role) {
  if (role.writes) return "everything: owner, superuser, or given more than is needed";
  std::string what = role.charges ? "charge and read" : role.reads ? "read" : "";
  if (!role.creates) return what;
  return (what.empty() ? "" : what + ", and ") +
         "create objects in the ledger's schema: REVOKE CREATE ON SCHEMA takes that";
}

void run_ledger_roles(const Arguments& arguments, Context& context) {
  const ledger::StoreLocation location = ledger_location(arguments);
  if (!ledger::is_postgres(location.place))
    throw Unsupported("a ledger in a file has no roles",
                      "give rights on the file with the means of the file system, or keep the "
                      "ledger on a PostgreSQL server");
  const auto list = [&](const char* name) {
    return arguments.given(name) ? arguments.list(name) : std::vector<std::string>{};
  };
  const bool changes =
      arguments.given("charge") || arguments.given("read") || arguments.given("revoke");
  ledger::Ledger ledger =
      ledger::Ledger::open(location, changes ? ledger::OpenMode::write : ledger::OpenMode::read);
  for (const std::string& role : list("revoke")) revoke(ledger.database(), role);
  for (const std::string& role : list("read")) grant(ledger.database(), role, Right::read);
  for (const std::string& role : list("charge")) grant(ledger.database(), role, Right::charge);
  Json json = {{"schema", 1}, {"roles", Json::array()}};
  std::size_t width = 4;
  const auto all = ledger::roles(ledger.database());
  for (const ledger::Role& role : all) width = std::max(width, role.name.size());
  for (const ledger::Role& role : all) {
    json["roles"].push_back({{"name", role.name},
                             {"reads", role.reads},
                             {"charges", role.charges},
                             {"writes", role.writes},
                             {"creates", role.creates}});
    if (!arguments.flag("json")) context.out.print("{:<{}}  may {}\n", role.name, width, may(role));
  }
  if (arguments.flag("json")) context.out.print("{}\n", json.dump());
}

Option role_list(std::string name, std::string help) {
  return {.name = std::move(name), .type = Type::list, .value = "A,B", .help = std::move(help)};
}

}  // namespace

Command ledger_roles_command(std::vector<Option> store_options) {
  std::vector<Option> options = {
      role_list("charge", "let these roles of the server charge, and read"),
      role_list("read", "let these roles read only"),
      role_list("revoke", "take all rights from these roles")};
  for (Option& o : store_options) options.push_back(std::move(o));
  return {.name = "roles",
          .summary = "say or change who may read and who may charge, on a PostgreSQL server",
          .description =
              "Roles that may charge write no table: they append entries through a function of "
              "the server, which changes a spend only together with the entry that states it. "
              "Creating data sets and giving rights stay with the owner of the tables. Roles "
              "themselves are made on the server (CREATE ROLE pipeline LOGIN).",
          .examples = {{"Who may do what", "sotto ledger roles --store postgresql:///budget"},
                       {"A pipeline that charges and an auditor who reads",
                        "sotto ledger roles --store postgresql:///budget --charge pipeline --read "
                        "auditor"}},
          .options = std::move(options),
          .run = run_ledger_roles};
}

}  // namespace sotto::cli
