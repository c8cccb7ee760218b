#include "sotto/deep/rows/axis.hpp"

namespace sotto::deep::rows {

std::pair<std::int64_t, std::int64_t> extent(const Geometry& g) {
  std::int64_t last = g.offset * g.item;
  for (std::size_t j = 0; j < g.sizes.size(); ++j) last += (g.sizes[j] - 1) * g.strides[j] * g.item;
  return {g.offset * g.item, last + g.item};
}

std::optional<Axis> find_axis(const Geometry& g, const Layout& layout, std::int64_t records) {
  for (const std::int64_t size : g.sizes)
    if (size == 0) return kPublic;
  const auto [first, last] = extent(g);
  if (first < layout.begin || last > layout.end) return std::nullopt;
  const std::int64_t run = layout.run, start = first - layout.begin;
  if (records == 1) return Axis{0, 1, 1};  // one record has no place to be mixed up
  if ((start / run) % records != 0) return std::nullopt;
  std::int64_t within =
      start % run;  // the farthest byte of a record that is reached from its first
  Axis axis;
  for (std::size_t j = 0; j < g.sizes.size(); ++j) {
    const std::int64_t size = g.sizes[j], stride = g.strides[j] * g.item;
    if (size == 1 || stride % (run * records) == 0) continue;  // stays with its record
    if (stride * (size - 1) < run) {                           // moves within a record
      within += stride * (size - 1);
      continue;
    }
    if (axis.holds_records() || run % stride != 0) return std::nullopt;
    const std::int64_t inner = run / stride;
    if (size % (records * inner) != 0) return std::nullopt;  // a part of the records only
    axis = {static_cast<int>(j), size / (records * inner), inner};
    within += (inner - 1) * stride;
  }
  if (!axis.holds_records() || within + g.item > run) return std::nullopt;
  return axis;
}

std::optional<Layout> layout_of(const Geometry& g, const Axis& axis, std::int64_t records) {
  if (records == 1) return Layout{.run = 1};
  const auto j = static_cast<std::size_t>(axis.dim);
  if (axis.dim < 0 || j >= g.sizes.size()) return std::nullopt;
  const Layout layout{.run = g.strides[j] * axis.inner * g.item};
  if (layout.run <= 0 || find_axis(g, layout, records) != axis) return std::nullopt;
  return layout;
}

}  // namespace sotto::deep::rows
