// A witness beside an SQLite store: which entry was the newest when a process last said
// "committed", in a small file of its own.
//
// What       advance() after a commit and before anybody is told of it; read() before a
//            transaction. A store whose chain ends before the witness's entry, or has another one
//            in its place, has lost what was committed.
// Guarantee  Closes the gap that page digests leave: a changed byte in the write-ahead log of a
//            killed process ends the log there, and SQLite takes what follows for a torn write. The
//            same for an old copy of the store that is put back without its witness.
// Method     One line: number, hash, SHA-256 of the two; written in place under a lock and never
//            back. Any changed byte of it is noticed.
// Not        synced: after a loss of power the witness may be behind by what was committed last. It
//            then proves less, never wrongly.
// Reference  docs/ledger.md, section "What is detected".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sotto::ledger {

struct Head {
  std::int64_t seq = 0;
  std::string hash;
};

class HeadFile {
 public:
  explicit HeadFile(const std::string& store) : path_(store + "-head") {}
  const std::string& path() const { return path_; }

  std::optional<Head> read() const;  // nothing when there is no witness; throws VerificationFailed
  void advance(const Head& head) const noexcept;

 private:
  std::string path_;
};

}  // namespace sotto::ledger
