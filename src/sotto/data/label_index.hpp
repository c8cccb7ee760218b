// Which of a list of labels a text is: found at every categorical cell of a file, so without a
// byte-wise hash.
//
// Open addressing over a table at most half full. The labels are public and fix how many places a
// look-up may visit; the texts, which need not be public, cannot lengthen it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

class LabelIndex {
 public:
  LabelIndex() = default;
  // Of labels that are alike the first is found, and none of `hidden`.
  explicit LabelIndex(const std::vector<std::string>& labels,
                      const std::vector<std::string>& hidden = {});

  std::optional<std::uint32_t> find(std::string_view text) const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0, size = 0;  // of the label in texts_
    std::uint32_t index = kFree;
  };
  static constexpr std::uint32_t kFree = 0xffffffff;
  static std::uint64_t hash_of(std::string_view text);

  std::string texts_;
  std::vector<Slot> slots_;  // a power of two of them, or none
};

}  // namespace sotto
