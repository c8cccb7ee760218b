// The file layer under SQLite: every page carries a digest of itself, and tests can make any write
// fail.
//
// What       A VFS named "sotto" around the system's own. The last 16 bytes of a page are the head
//            of SHA-256(page number, page); a page that does not match is an I/O error, so damage
//            is noticed even where no row is stored. The write-ahead log has checksums of its own.
// Guarantee  Any change of a byte of the database file is detected when the page is read, or by
//            check_pages().
// Method     SQLite reserves the bytes (SQLITE_FCNTL_RESERVE_BYTES) and ignores them.
// Reference  docs/ledger.md, section "What is detected".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sotto::ledger {

inline constexpr int kPageSize = 4096, kPageDigest = 16;

const char* sqlite_vfs();  // registers it at the first call; returns its name

// Throws VerificationFailed that names the first damaged page, or says that the size is wrong.
void check_pages(const std::string& path);

// For tests: called before every write, sync, truncation and deletion with its name ("write",
// "sync", "truncate", "delete") and the file.
// An SQLite error code other than 0 is what SQLite is told instead; the hook may also end the
// process.
using FaultHook = std::function<int(std::string_view operation, std::string_view file)>;
void set_sqlite_fault(FaultHook hook);

}  // namespace sotto::ledger
