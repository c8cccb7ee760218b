// An accumulator: all that a collector keeps of the reports it was given.
//
// What       take() counts a record or refuses it, and says why. Accumulators of the same protocol
//            can be merged, written to a file and read back.
// Guarantee  A report that cannot be read, has other parameters, an epoch beyond the declared ones,
//            or comes from a client that has reported in that epoch already, is counted as refused
//            and leaves no other trace. Everything kept is post-processing of reports.
// Method     Cells of whole numbers (aggregator.hpp), counts of what was refused, and 128 bits for
//            each client and epoch, where reports carry an id.
//            File: magic, version, declaration, counts, cells, clients, SHA-256 of all.
// Numerics   Whole numbers; the same in any order.
// Reference  docs/local.md.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sotto/local/client/record.hpp"
#include "sotto/local/server/aggregator.hpp"
#include "sotto/local/server/seen_clients.hpp"

namespace sotto::local {

inline constexpr std::string_view kAccumulatorMagic = "SOTTOACC";

// Why a record was refused.
enum class Refusal { unreadable, other_parameters, wrong_epoch, duplicate };
inline constexpr std::size_t kRefusals = 4;
std::string_view name(Refusal refusal);

class Accumulator {
 public:
  explicit Accumulator(Declaration declaration);  // throws DataError

  const Declaration& declaration() const { return declaration_; }
  Aggregator& aggregator() { return *aggregator_; }
  std::uint64_t reports() const { return aggregator_->reports(); }
  std::uint64_t refused(Refusal why) const { return refused_[static_cast<std::size_t>(why)]; }
  std::uint64_t refused() const;
  bool clients_known() const { return unnamed_ == 0; }  // every report carried an id

  bool take(const Record& record);  // false: refused
  void refuse(Refusal why, std::uint64_t count = 1) {
    refused_[static_cast<std::size_t>(why)] += count;
  }

  // Throws DataError when the protocols differ, or when a client is in both for one epoch: what it
  // reported cannot be taken out again.
  void merge(Accumulator& other);

  using Sink = std::function<void(std::string_view)>;
  using Source = std::function<std::size_t(std::span<char>)>;  // fewer than asked for: the end
  void write(const Sink& sink);
  static Accumulator read(const Source& source);  // from a stranger; throws DataError

 private:
  Declaration declaration_;
  std::uint32_t tag_;
  std::uint64_t epochs_;
  std::unique_ptr<Aggregator> aggregator_;
  SeenClients seen_;
  std::uint64_t unnamed_ = 0;
  std::array<std::uint64_t, kRefusals> refused_{};
};

std::unique_ptr<Aggregator> make_aggregator(const Declaration& declaration);

}  // namespace sotto::local
