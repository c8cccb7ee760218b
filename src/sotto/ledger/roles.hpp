// Who may do what with a PostgreSQL store: the least rights that reading and charging need.
//
// What       grant() lets a role of the server read, or read and charge; revoke() takes both back;
//            roles() says who may do what now.
// Guarantee  A role that may charge has no right to write a table: it appends entries through the
//            server's function, which changes a spend only together with the entry that states it,
//            and never changes or removes an entry. Creating data sets, giving rights and bringing
//            the tables up to date stay with the owner. A role that may read can write nothing and
//            keep no writer waiting.
// Not        proof against who may charge and states a wrong spend on purpose: the server cannot
//            compute costs. verify() finds that, and the entry stays. Nor against the owner of the
//            tables and superusers of the server; against them a head is pinned elsewhere.
// Reference  docs/ledger.md, section "Roles on a server".
#pragma once

#include <string>
#include <vector>

#include "sotto/ledger/database.hpp"

namespace sotto::ledger {

enum class Right { read, charge };

struct Role {
  std::string name;
  bool reads = false, charges = false;
  bool writes =
      false;  // tables directly: the owner, superusers, and whoever was given more than is needed
  bool creates = false;  // objects in the schema of the ledger
};

// What a role may by itself or after SET ROLE. All three need a PostgreSQL store; those that change
// something, its owner. Throw StorageError.
void grant(Database& db, const std::string& role, Right right);
void revoke(Database& db, const std::string& role);
std::vector<Role> roles(
    Database& db);  // those with any right, by name; "public" stands for everybody

}  // namespace sotto::ledger
