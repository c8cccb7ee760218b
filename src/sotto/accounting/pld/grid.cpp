#include "sotto/accounting/pld/grid.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/outward.hpp"
#include "sotto/accounting/pld/quadrature.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

// Bound of the relative error of a mass: the quadrature rule, the exponentials in a density and the sums.
constexpr double kMassError = 2e-13;
constexpr double kSnap =
    1e-10;  // an atom this close to a grid point, as a fraction of h, counts as on it

// 1 − e^{−x}; a short series for the small arguments that fill the inner loop.
double fall(double x) {
  if (std::abs(x) > 0.01) return -std::expm1(-x);
  return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))));
}

struct Range {
  double low = kInfinity, high = -kInfinity;
  void include(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

// Where a piece begins and ends: tails are cut off, a piece that is all tail is empty, and a folded law has no losses below 0.
template <class Piece>
std::pair<double, double> extent(const Piece& piece, double tail, bool fold) {
  const double mass = piece.mass();
  if (mass <= 4 * tail) return {1, 0};
  const double z0 =
      fold ? std::max(piece.low(tail / mass), piece.where(0)) : piece.low(tail / mass);
  return {z0, std::max(z0, piece.high(tail / mass))};
}

template <class Piece>
void integrate(const Piece& piece, double tail, bool fold, CellGrid& grid) {
  const auto [z0, z1] = extent(piece, tail, fold);
  if (!(z0 < z1)) {
    grid.high.p += piece.mass();
    grid.high.q += piece.mass();
    return;
  }
  const double h = grid.h(), half = 0.5 * h;
  const double first_loss = fold ? 0.0 : piece.at(z0).loss;
  auto cell = static_cast<std::int64_t>(
      std::floor(first_loss / half));  // half-cells: [cell·h/2, (cell+1)·h/2]
  double from = z0;
  while (from < z1) {
    const double boundary = static_cast<double>(cell + 1) * half;
    double to = std::min(z1, piece.where(boundary, from));
    if (!(to > from)) to = from;
    const std::int64_t bucket = cell >= 0 ? cell / 2 : (cell - 1) / 2;
    const bool upper_half = cell - 2 * bucket == 1;
    if (to > from) {
      for_each_node(piece, from, to, [&](const PieceNode& n, double w) {
        grid.add_in(bucket, upper_half, n.loss, n.p * w);
      });
    }
    from = to;
    ++cell;
  }
  if (!fold) {
    const PieceTail below = piece.below(z0);
    grid.low.p += below.p;
    grid.low.q += below.q;
  }
  const PieceTail above = piece.above(z1);
  grid.high.p += above.p;
  grid.high.q += above.q;
}

// Merges cells so that each result has the likelihood ratio of a grid point exactly; see docs/math/pld.md §4.
struct MergedCells {
  MergedCells(double h, std::vector<double> masses, std::vector<double> surpluses)
      : out(masses.size()), grid_step(h), cell(std::move(masses)), surplus(std::move(surpluses)) {}

  void merge() {
    const auto n = static_cast<std::ptrdiff_t>(cell.size());
    // Left of a mode cells have losses above their point and take from below; right of it the other way round.
    for (std::ptrdiff_t k = n - 1; k >= 0; --k)
      if (surplus[k] >= 0) settle(k, -1);
    for (std::ptrdiff_t k = 0; k < n; ++k) settle(k, +1);
  }

  std::vector<double> out;

 private:
  static constexpr std::ptrdiff_t kReach = 4096;

  // Cell k is balanced by cells on the given side, the nearest first, then placed.
  void settle(std::ptrdiff_t k, int side) {
    const auto n = static_cast<std::ptrdiff_t>(cell.size());
    if (cell[k] <= 0) return;
    double mass = cell[k], need = surplus[k];
    cell[k] = surplus[k] = 0;
    for (std::ptrdiff_t d = 1; need * side < 0 && d <= kReach; ++d) {
      const std::ptrdiff_t j = k + side * d;
      if (j < 0 || j >= n) break;
      if (cell[j] <= 0) continue;
      // Seen from point k, cell j has the surplus cell − (cell − surplus)·e^{−(j−k)h}.
      const double ratio = std::exp(-static_cast<double>(side * d) * grid_step);
      const double have = cell[j] - (cell[j] - surplus[j]) * ratio;
      if (have * side <= 0) continue;
      const double w = std::min(1.0, -need / have);
      mass += w * cell[j];
      need = w < 1 ? 0 : need + have;
      cell[j] *= 1 - w;
      surplus[j] *= 1 - w;
    }
    if (need * side >= 0) {
      out[k] += mass;
    } else if (side < 0 && k + 1 < n && cell[k + 1] > 0) {
      // Nothing below is left (the lower end of the losses): the next cell up, still to be settled, takes it in.
      cell[k + 1] += mass;
      surplus[k + 1] += mass - (mass - need) * std::exp(grid_step);
    } else if (!place_beyond(k, -side, mass, need)) {
      // Rounded down: to the point itself when the loss is above it, else to the one below.
      if (side < 0) {
        out[k] += mass;
      } else if (k > 0) {
        out[k - 1] += mass;
      }
    }
  }

  // The loss lies between points k and k + side: balance it at the latter, with masses further out that are placed already
  // (exactly at their point) or still to be settled.
  bool place_beyond(std::ptrdiff_t k, int side, double mass, double need) {
    const auto n = static_cast<std::ptrdiff_t>(out.size()), target = k + side;
    if (target < 0 || target >= n) return false;
    double rest =
        mass - (mass - need) * std::exp(side * grid_step);  // surplus at the target, of sign −side
    struct Share {
      std::ptrdiff_t at;
      double placed, open;
    };
    std::vector<Share> shares;
    // The share of a mass, with the given surplus at the target, that is needed to finish.
    const auto share = [&](double surplus_there) {
      if (!(surplus_there * side > 0) || !(rest * side < 0)) return 0.0;
      const double w = std::min(1.0, -rest / surplus_there);
      rest = w < 1 ? 0 : rest + surplus_there;
      return w;
    };
    for (std::ptrdiff_t d = 1; rest * side < 0 && d <= kReach; ++d) {
      const std::ptrdiff_t j = target + side * d;
      if (j < 0 || j >= n) break;
      const double ratio = std::exp(-static_cast<double>(side * d) * grid_step);
      const double placed = share(out[j] - out[j] * ratio),
                   open = share(cell[j] - (cell[j] - surplus[j]) * ratio);
      if (placed > 0 || open > 0) shares.push_back({j, placed, open});
    }
    if (rest * side < 0) return false;
    for (const Share& s : shares) {
      mass += s.placed * out[s.at] + s.open * cell[s.at];
      out[s.at] *= 1 - s.placed;
      cell[s.at] *= 1 - s.open;
      surplus[s.at] *= 1 - s.open;
    }
    out[target] += mass;
    return true;
  }

  double grid_step;
  std::vector<double> cell, surplus;
};

}  // namespace

CellGrid::CellGrid(double h, std::int64_t first, std::size_t size)
    : h_(h), one_minus_(fall(h)), first_(first), upper_(size), cell_(size), surplus_(size) {}

void CellGrid::add_in(std::int64_t bucket, bool upper_half, double loss, double p) {
  const auto k = static_cast<std::size_t>(bucket - first_);
  const double x = loss - static_cast<double>(bucket) * h_;
  const double up = p * std::clamp(fall(x) / one_minus_, 0.0, 1.0);
  upper_[k] += p - up;
  upper_[k + 1] += up;
  const std::size_t c = k + (upper_half ? 1 : 0);
  cell_[c] += p;
  surplus_[c] += p * fall(upper_half ? loss - static_cast<double>(bucket + 1) * h_ : x);
}

void CellGrid::add(double loss, double p) {
  const double position = loss / h_, nearest = std::round(position);
  const auto i = static_cast<std::int64_t>(nearest);
  if (std::abs(position - nearest) < kSnap) {
    upper_[static_cast<std::size_t>(i - first_)] += p;
    cell_[static_cast<std::size_t>(i - first_)] += p;
  } else {
    const bool upper_half = nearest > position;
    add_in(upper_half ? i - 1 : i, upper_half, loss, p);
  }
}

CellGrid CellGrid::mirrored() const {
  const std::size_t n = upper_.size();
  CellGrid out(h_, -(first_ + static_cast<std::int64_t>(n) - 1), n);
  for (std::size_t k = 0; k < n; ++k) {
    const double ratio = std::exp(-static_cast<double>(first_ + static_cast<std::int64_t>(k)) * h_);
    const auto scaled = [&](double x) { return x == 0 ? 0 : x * ratio; };
    out.upper_[n - 1 - k] = scaled(upper_[k]);
    out.cell_[n - 1 - k] = scaled(cell_[k] - surplus_[k]);
    out.surplus_[n - 1 - k] = -scaled(surplus_[k]);
  }
  out.low = {high.q, high.p};
  out.high = {low.q, low.p};
  out.charged = charged;
  out.p_infinite = q_infinite;
  out.q_infinite = p_infinite;
  out.shift = shift;
  out.slack = slack;
  return out;
}

void CellGrid::fold(double p_infinite_of_law) {
  // Widen to a range symmetric around 0, add the mirror image, give loss 0 what is left of the mass.
  const CellGrid mirror = mirrored();
  const std::int64_t last = first_ + static_cast<std::int64_t>(upper_.size()) - 1,
                     reach = std::max(last, -first_);
  CellGrid out(h_, -reach, static_cast<std::size_t>(2 * reach + 1));
  double p = high.p + p_infinite_of_law, q = high.q;
  for (const CellGrid* g : {static_cast<const CellGrid*>(this), &mirror}) {
    for (std::size_t k = 0; k < g->upper_.size(); ++k) {
      const auto at = static_cast<std::size_t>(g->first_ + static_cast<std::int64_t>(k) + reach);
      out.upper_[at] += g->upper_[k];
      out.cell_[at] += g->cell_[k];
      out.surplus_[at] += g->surplus_[k];
      (g == this ? p : q) += g->upper_[k];
    }
  }
  const double rest = std::max(0.0, 1 - p - q);
  out.upper_[static_cast<std::size_t>(reach)] += rest;
  out.cell_[static_cast<std::size_t>(reach)] += rest;
  out.high = high;
  out.low = {high.q, high.p};
  out.charged = charged;
  out.p_infinite = out.q_infinite = p_infinite_of_law;
  out.shift = shift;
  out.slack = slack;
  *this = std::move(out);
}

StepLaw CellGrid::upper_step() const {
  // What was cut off at either end counts as lost: it is a fraction of δ chosen to be negligible.
  return {first_, upper_, p_infinite + charged + high.p + low.p, shift, slack};
}

StepLaw CellGrid::lower_step() const {
  MergedCells cells(h_, cell_, surplus_);
  cells.merge();
  return {first_, std::move(cells.out), p_infinite, shift, slack};
}

CellGrid discretise(const LossLaw& law, double h, double tail) {
  Range range;
  if (law.fold) range.include(0);
  for (const LossAtom& a : law.atoms) range.include(a.loss);
  double reach = 0;
  for (const LossPiece& piece : law.pieces) {
    std::visit(
        [&](const auto& x) {
          const auto [z0, z1] = extent(x, tail, law.fold);
          if (!(z0 < z1)) return;
          if ((z1 - z0) * x.growth(z1) > 3e7) {
            throw AccountingError(
                "the noise is so small beside the sensitivity that the privacy loss cannot be "
                "bounded",
                "raise the noise multiplier");
          }
          range.include(x.at(z0).loss);
          range.include(x.at(z1).loss);
          reach = std::max({reach, std::abs(z0), std::abs(z1)});
        },
        piece);
  }
  if (!(range.low <= range.high)) range.low = range.high = 0;
  const double cells = (range.high - range.low) / h;
  if (!(cells < 3e7))
    throw AccountingError("the privacy loss of one use spans too many grid cells to be computed");
  const auto first = static_cast<std::int64_t>(std::floor(range.low / h)) - 1;
  CellGrid grid(h, first, static_cast<std::size_t>(cells) + 6);
  for (const LossPiece& piece : law.pieces) {
    std::visit([&](const auto& x) { integrate(x, tail, law.fold, grid); }, piece);
  }
  for (const LossAtom& a : law.atoms) grid.add(a.loss, a.p);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  grid.charged = law.charged;
  grid.slack = law.slack + kMassError + 2 * kUlp * reach * reach;
  grid.shift = law.shift + 16 * kUlp * (4 + largest + reach) + (law.atoms.empty() ? 0 : kSnap * h);
  if (law.fold) {
    grid.fold(law.p_infinite);
  } else {
    grid.p_infinite = law.p_infinite;
    grid.q_infinite = law.q_infinite;
  }
  return grid;
}

std::vector<LossNode> loss_nodes(const LossLaw& law, double tail) {
  std::vector<LossNode> nodes;
  for (const LossPiece& piece : law.pieces) {
    std::visit(
        [&](const auto& x) {
          const auto [z0, z1] = extent(x, tail, law.fold);
          const int panels = static_cast<int>(std::ceil((z1 - z0) / 0.5));
          for (int i = 0; i < panels; ++i) {
            const double width = (z1 - z0) / panels;
            panel_nodes(x, z0 + i * width, width, 3 / width, [&](const PieceNode& n, double w) {
              nodes.push_back({n.loss, n.p * w});
            });
          }
        },
        piece);
  }
  for (const LossAtom& a : law.atoms) nodes.push_back({a.loss, a.p});
  if (law.fold) {
    const std::size_t n = nodes.size();
    double rest = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double q = nodes[i].p * std::exp(-nodes[i].loss);
      nodes.push_back({-nodes[i].loss, q});
      rest -= nodes[i].p + q;
    }
    nodes.push_back({0, std::max(0.0, rest)});
  }
  return nodes;
}

}  // namespace sotto
