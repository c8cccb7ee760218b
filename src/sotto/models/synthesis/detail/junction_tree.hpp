// The junction tree of a graph over columns: cliques of columns such that every two that share a
// column are joined through cliques that have it too. On it sums over a Markov model are exact.
//
// Made by eliminating columns, the one whose clique has the fewest cells first; a function of the
// levels and the edges alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sotto {

struct JunctionTree {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Clique {
    std::vector<std::uint32_t> columns;      // ascending
    std::size_t parent = kNone;              // before it in the list
    std::vector<std::uint32_t> shared = {};  // with the parent; ascending
  };
  std::vector<Clique> cliques;
};

using ColumnPair = std::pair<std::uint32_t, std::uint32_t>;

// Between every two of these columns.
void add_edges(std::span<const std::uint32_t> columns, std::vector<ColumnPair>& edges);

JunctionTree junction_tree(std::span<const std::uint32_t> levels,
                           std::span<const ColumnPair> edges);
// How many cells all cliques of that tree have together; a number however many.
double junction_cells(std::span<const std::uint32_t> levels, std::span<const ColumnPair> edges);

}  // namespace sotto
