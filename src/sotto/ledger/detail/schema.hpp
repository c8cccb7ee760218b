// The tables, and how older stores become newer ones: a list of steps, each applied once, inside
// the transaction that needs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/ledger/database.hpp"

namespace sotto::ledger {

using Migration = std::vector<std::string>;  // statements that lead from one version to the next

// kMigrations()[n] leads from version n to n + 1; version 0 is an empty database.
const std::vector<Migration>& migrations();

// The version of the store; 0 when it has no tables.
std::int64_t schema_version(Database& db);

// Applies what is missing; to be called inside a writing transaction. Throws StorageError for a
// store of a newer version.
void migrate(Database& db, std::span<const Migration> steps = migrations());

// Throws StorageError unless the store has the newest version: for readers, who change nothing.
void require_current(Database& db, std::span<const Migration> steps = migrations());

}  // namespace sotto::ledger
