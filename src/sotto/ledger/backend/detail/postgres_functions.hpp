// Detail: the two functions through which everybody writes to a PostgreSQL store, its owner
// included.
//
// sotto_lock() lets one writer in; sotto_append() adds an entry and what it leaves of one spend.
// They run with the rights of the owner (SECURITY
// DEFINER), so a role that may charge needs no right to write any table: it can neither change nor
// remove an entry, nor touch a spend without an entry that says so. What the server checks: the
// entry follows the newest one and has its hash, its columns are those of its body, its events, its
// spend and what it says about this data have the shape that clients read, a settlement settles an
// open reservation of the same data set, exactly one spend changes, and the digest that the entry
// states is that of all spends as they are now. It cannot compute what events cost: that
// the stated spend is right is checked by who reads (verify).
#pragma once

#include <string>

namespace sotto::ledger {

// CREATE and REVOKE statements for tables in this schema (a quoted identifier).
std::string lock_function(const std::string& schema);
std::string append_function(const std::string& schema);

inline constexpr const char* kLockSignature = "sotto_lock()";
inline constexpr const char* kAppendSignature =
    "sotto_append(bigint, text, text, text, bigint, text, text, text, text)";
// What sotto_append() raises when something does not fit.
inline constexpr const char* kRefusedState = "SOT01";

}  // namespace sotto::ledger
