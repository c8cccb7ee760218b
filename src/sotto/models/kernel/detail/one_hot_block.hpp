// Groups of levels of which each record has one: scaled, centred, and cheap to sum exactly.
//
// What       A record with level l_g in group g is the vector V = (S_l·e_l − M_g) over all groups:
//            its own level scaled, less the mean of all records. As part of a row it is multiplied
//            by a factor of its own that gives it the same length as every other record's. A
//            group may stand in several layers: its levels one by one, and runs of them together.
// Guarantee  For an integer a with |a| ≤ s·factor(levels)·2^20, ‖a·V‖ ≤ s·reach·2^36, as integers.
// Method     S and M are integers in steps of 2^−16, made from released shares: S_l = (share_l +
//            o)^−½, M_l = S_l·share_l. A sum Σ a_i V_i is then S times the sums of a_i in each
//            level less M times the sum of all a_i: one addition for each group of a record, not
//            one for each level or layer, and the same integers.
// Numerics   |S| < 2^21, weights being at most 1; squares of V are exact 64-bit integers for up to
//            2^20 levels; the factor is rounded down.
// Reference  docs/math/kernel.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto {

class OneHotBlock {
 public:
  struct GroupLayer {
    std::size_t together = 1;  // how many levels that follow each other are one coordinate
    double weight = 1;         // what S is multiplied by; at most 1
  };
  struct Group {
    std::vector<double> shares = {};  // of its levels
    std::vector<GroupLayer> layers = {{}};
  };
  // offset: o; reach: the length that a record's part has.
  OneHotBlock(const std::vector<Group>& groups, double offset, double reach);

  std::size_t groups() const { return first_.size(); }
  std::size_t size() const { return scale_.size(); }     // coordinates: of all layers of all groups
  std::size_t levels() const { return square_.size(); }  // of all groups
  std::size_t at(std::size_t group, std::uint32_t level) const { return first_[group] + level; }

  // How long the part of V is that a level sets, over all layers.
  double scale(std::size_t at) const;

  // Level: an unsigned integer, 8 or 16 bits.
  template <class Level>
  float factor(std::span<const Level> levels) const {
    std::uint64_t square = 0;
    for (std::size_t g = 0; g < levels.size(); ++g) square += square_[first_[g] + levels[g]];
    return factor_of(square);
  }

  // ⟨parameters, V⟩ needs these two: a number for each level, and what the means amount to.
  struct Products {
    std::vector<float> of_level;
    double of_means = 0;
  };
  Products products(std::span<const double> parameters) const;
  // ⟨parameters, V·factor⟩.
  template <class Level>
  double product(const Products& products, std::span<const Level> levels, float factor) const {
    const float* const of = products.of_level.data();
    const std::size_t *const first = first_.data(), groups = levels.size(), even = groups / 4 * 4;
    const Level* const level = levels.data();
    float a = 0, b = 0, c = 0, d = 0;  // sums that do not wait for each other
    for (std::size_t g = 0; g < even; g += 4) {
      a += of[first[g] + level[g]];
      b += of[first[g + 1] + level[g + 1]];
      c += of[first[g + 2] + level[g + 2]];
      d += of[first[g + 3] + level[g + 3]];
    }
    for (std::size_t g = even; g < groups; ++g) a += of[first[g] + level[g]];
    const float sum = (a + b) + (c + d);
    return (static_cast<double>(sum) - products.of_means) * static_cast<double>(factor);
  }
  // sums[level] += a for the level in each group.
  template <class Level>
  void add(std::span<const Level> levels, std::int64_t a, std::span<std::int64_t> sums) const {
    const std::size_t* const first = first_.data();
    std::int64_t* const to = sums.data();
    const Level* const level = levels.data();
    for (std::size_t g = 0; g < levels.size(); ++g) to[first[g] + level[g]] += a;
  }

  // sums: one for each coordinate.
  // Σ a_i V_i from the sums of a_i in each level and over all, added to `sums`, in steps of 2^−36.
  void expand(std::span<const std::int64_t> of_level, std::int64_t all,
              std::span<int128> sums) const;

 private:
  struct Layer {
    std::size_t first_level, levels, together, first;
    std::size_t coordinate(std::size_t level) const { return first + level / together; }
  };
  void add_layer(const Group& group, const GroupLayer& layer, double offset,
                 std::size_t first_level);
  float factor_of(std::uint64_t square) const;

  double reach_;
  std::vector<std::size_t> first_;  // levels of each group
  std::vector<Layer> layers_;
  std::vector<std::int64_t> scale_, mean_;  // steps of 2^−16
  std::vector<std::uint64_t> square_;       // of V in one group, for each level
};

}  // namespace sotto
