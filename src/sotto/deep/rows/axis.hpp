// Detail: which axis of a tensor counts the records, from where its elements lie in memory.
//
// What       Memory that holds records belongs to them in runs: byte e is of record ((e − begin) /
//            run) mod B. A tensor over that memory has the records on one axis, whose index is (a·B
//            + b)·inner + c for record b, or it mixes or cuts them.
// Method     Sizes, strides and offset decide, in bytes, since a view may have another type. So
//            merged axes (B·T, T·B), views and aliases of any kind need no rule of their own.
//            docs/math/row-by-row.md, lemma 1.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace sotto::deep::rows {

struct Axis {
  int dim = -1;                       // below 0: no records in the tensor
  std::int64_t outer = 1, inner = 1;  // the axis has outer·B·inner entries
  bool holds_records() const { return dim >= 0; }
  bool operator==(const Axis&) const = default;
};
inline constexpr Axis kPublic{};

// Where the records lie in a piece of memory.
struct Layout {
  std::int64_t run = 0;  // bytes of one record in a row; 0: public
  std::int64_t begin = 0,
               end = std::numeric_limits<std::int64_t>::max();  // of the records, in bytes
};

struct Geometry {
  std::span<const std::int64_t> sizes, strides;
  std::int64_t offset = 0, item = 1;  // elements; bytes of one
};

// The axis of the records; nothing when the tensor cuts or mixes them. An empty tensor holds none.
std::optional<Axis> find_axis(const Geometry& g, const Layout& layout, std::int64_t records);
// The layout of memory in which a tensor has its records on this axis; nothing when no layout does
// that.
std::optional<Layout> layout_of(const Geometry& g, const Axis& axis, std::int64_t records);
// The bytes that the tensor can reach: [first, last).
std::pair<std::int64_t, std::int64_t> extent(const Geometry& g);

}  // namespace sotto::deep::rows
