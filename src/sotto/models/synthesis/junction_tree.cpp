#include "sotto/models/synthesis/detail/junction_tree.hpp"

#include <algorithm>

namespace sotto {
namespace {

using Columns = std::vector<std::uint32_t>;

bool contains(const Columns& all, const Columns& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

double cells_of(std::span<const std::uint32_t> levels, const Columns& columns) {
  double cells = 1;
  for (const std::uint32_t c : columns) cells *= levels[c];
  return cells;
}

// The maximal cliques that elimination leaves, in its order.
std::vector<Columns> cliques_of(std::span<const std::uint32_t> levels,
                                std::span<const ColumnPair> edges) {
  const std::size_t count = levels.size();
  std::vector<std::vector<bool>> joined(count, std::vector<bool>(count));
  std::vector<Columns> beside(count);
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b || joined[a][b]) return;
    joined[a][b] = joined[b][a] = true;
    beside[a].push_back(b);
    beside[b].push_back(a);
  };
  for (const auto& [a, b] : edges) join(a, b);
  std::vector<double> cost(count);
  std::vector<bool> gone(count);
  const auto update = [&](std::uint32_t c) { cost[c] = cells_of(levels, beside[c]) * levels[c]; };
  for (std::uint32_t c = 0; c < count; ++c) update(c);

  std::vector<Columns> cliques;
  for (std::size_t round = 0; round < count; ++round) {
    std::uint32_t next = 0;
    bool found = false;
    for (std::uint32_t c = 0; c < count; ++c) {
      if (gone[c] || (found && cost[c] >= cost[next])) continue;
      next = c;
      found = true;
    }
    const Columns around = beside[next];
    for (std::size_t i = 0; i < around.size(); ++i)
      for (std::size_t j = i + 1; j < around.size(); ++j) join(around[i], around[j]);
    gone[next] = true;
    for (const std::uint32_t c : around) {
      std::erase(beside[c], next);
      update(c);
    }
    Columns clique = around;
    clique.push_back(next);
    std::sort(clique.begin(), clique.end());
    // A clique of a later column can only be inside one of an earlier column, which it joins.
    if (std::none_of(cliques.begin(), cliques.end(),
                     [&](const Columns& other) { return contains(other, clique); }))
      cliques.push_back(std::move(clique));
  }
  return cliques;
}

Columns common(const Columns& a, const Columns& b) {
  Columns both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

void add_edges(std::span<const std::uint32_t> columns, std::vector<ColumnPair>& edges) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t j = i + 1; j < columns.size(); ++j) edges.emplace_back(columns[i], columns[j]);
}

double junction_cells(std::span<const std::uint32_t> levels, std::span<const ColumnPair> edges) {
  double cells = 0;
  for (const Columns& clique : cliques_of(levels, edges)) cells += cells_of(levels, clique);
  return cells;
}

JunctionTree junction_tree(std::span<const std::uint32_t> levels,
                           std::span<const ColumnPair> edges) {
  const std::vector<Columns> cliques = cliques_of(levels, edges);
  // A spanning tree with the most columns shared is a junction tree [JJ94].
  JunctionTree tree;
  std::vector<bool> in(cliques.size());
  std::vector<std::size_t> place(cliques.size());
  std::vector<std::pair<std::size_t, std::size_t>> best(cliques.size());  // shared, with which
  for (std::size_t round = 0; round < cliques.size(); ++round) {
    std::size_t next = JunctionTree::kNone;
    for (std::size_t c = 0; c < cliques.size(); ++c)
      if (!in[c] && (next == JunctionTree::kNone || best[c].first > best[next].first)) next = c;
    in[next] = true;
    place[next] = tree.cliques.size();
    JunctionTree::Clique clique{.columns = cliques[next]};
    if (round > 0) {
      clique.parent = place[best[next].second];
      clique.shared = common(cliques[next], cliques[best[next].second]);
    }
    tree.cliques.push_back(std::move(clique));
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      const std::size_t shared = in[c] ? 0 : common(cliques[c], cliques[next]).size();
      if (!in[c] && (round == 0 || shared > best[c].first)) best[c] = {shared, next};
    }
  }
  return tree;
}

}  // namespace sotto
