// Which bytes were really read, not which are in the file afterwards.
//
// What       While a witness lives, every source that open_bytes() opens is digested as its bytes
//            go by. digest() names what came out of one path.
// Guarantee  The digest is that of the very bytes the readers were given, decompressed: a file that
//            is replaced or rewritten in between is not taken for what was read. A file that was
//            read twice with different content is refused.
// Method     SHA-256 of each reading that came to its end; a look at the first bytes is none. One
//            witness at a time, for all threads.
// Reference  docs/reference/certificate.md, section "Fingerprint".
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sotto/data/byte_source.hpp"

namespace sotto {

class ReadWitness {
 public:
  ReadWitness();
  ~ReadWitness();
  ReadWitness(const ReadWitness&) = delete;
  ReadWitness& operator=(const ReadWitness&) = delete;

  // In hexadecimal; nothing when it was never read to its end. Throws DataError when two readings
  // differ.
  std::optional<std::string> digest(const std::string& path) const;

  // For open_bytes(): the source itself when there is no witness.
  static std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source,
                                             const std::string& path);

 private:
  struct Seen;
  std::shared_ptr<Seen> seen_;
};

}  // namespace sotto
