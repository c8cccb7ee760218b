// A shuffler: reports in a uniformly random order, without sender, epoch and time.
//
// What       take() keeps the payload of each record, write() writes all of them as a file of
//            reports in random order.
// Guarantee  Given the set of payloads, the output is uniform over all orders, exactly, and depends
//            on nothing else of the records. A client's second report is refused.
// Method     Fisher–Yates with exact uniform numbers. Reports have a fixed length, so neither does
//            their size tell anything.
// Numerics   Whole numbers.
// Reference  [FMT21]; docs/math/amplification.md.
#pragma once

#include <functional>
#include <string>

#include "sotto/core/rng.hpp"
#include "sotto/local/server/accumulator.hpp"

namespace sotto::local {

class Shuffler {
 public:
  explicit Shuffler(Declaration declaration) : check_(std::move(declaration)) {}

  const Declaration& declaration() const { return check_.declaration(); }
  std::uint64_t reports() const { return check_.reports(); }
  std::uint64_t refused() const { return check_.refused(); }

  void take(const Record& record);
  void refuse(Refusal why) { check_.refuse(why); }
  // A file of reports. May be called once.
  void write(Rng& rng, const std::function<void(std::string_view)>& sink);

 private:
  Accumulator check_;  // says which records count
  std::string payloads_;
  std::size_t size_ = 0;  // of one payload
};

}  // namespace sotto::local
