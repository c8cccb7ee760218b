#include "sotto/accounting/pld/grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/accounting/pld/detail/merge.hpp"
#include "sotto/accounting/pld/detail/quadrature.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

// Bound of the relative error of a mass: the quadrature rule, the exponentials in a density and the
// sums.
constexpr double kMassError = 2e-13;
constexpr double kOutsideError = 1e-10;  // of the mass beyond the bounds of a law
// An atom this close to a grid point, as a fraction of h, counts as on it.
constexpr double kSnap = 1e-10;
constexpr int kMostDoublings = 10;

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

// Where a piece begins and ends: tails are cut off, and so are losses outside of the law's bounds;
// a piece that is all tail is empty, and a folded law has no losses below 0.
template <class Piece>
std::pair<double, double> extent(const Piece& piece, double tail, const LossLaw& law) {
  const double mass = piece.mass();
  if (mass <= 4 * tail) return {1, 0};
  double z0 = piece.low(tail / mass);
  if (law.fold) z0 = std::max(z0, piece.where(0));
  double z1 = std::max(z0, piece.high(tail / mass));
  if (law.highest < kInfinity) z1 = std::min(z1, piece.where(law.highest));
  if (law.lowest > -kInfinity) z0 = std::max(z0, piece.where(law.lowest));
  return {z0, z1};
}

bool inside(const LossLaw& law, const LossAtom& atom) {
  return atom.loss >= law.lowest && atom.loss <= law.highest;
}

// Losses that change fast over the noise are many thousands: laws that protect anything need a few
// thousand panels.
constexpr double kMostPanels = 1e6;

// How often the density of a piece has to be cut, whatever the cells are.
template <class Piece>
double panels(const Piece& piece, double from, double to) {
  double sum = 0;
  for (double z = from; z < to && sum <= kMostPanels; z += 1)
    sum += 1 +
           std::max(piece.growth(z), piece.growth(std::min(z + 1, to))) * std::min(to - z, 1.0) / 3;
  return sum;
}

std::vector<std::int64_t> grid_points(const Range& range, double h, const GridPlan& plan) {
  std::vector<std::int64_t> points;
  auto i = static_cast<std::int64_t>(std::floor(range.low / h)) - 1;
  const auto last = static_cast<std::int64_t>(std::ceil(range.high / h)) + 1;
  std::size_t level = 0;
  while (i <= last) {
    points.push_back(i);
    while (level < plan.from.size() && static_cast<double>(i) * h >= plan.from[level]) ++level;
    i += std::int64_t{1} << level;
  }
  points.push_back(i);
  return points;
}

}  // namespace

GridPlan plan_grid(std::vector<LossNode> nodes, double theta, double h) {
  constexpr double kShare = 0.02;  // of the total error, for each doubling
  std::sort(nodes.begin(), nodes.end(),
            [](const LossNode& a, const LossNode& b) { return a.loss > b.loss; });
  double total = 0, top = nodes.empty() ? 0 : theta * nodes.front().loss;
  for (LossNode& n : nodes) total += n.p = n.p * std::exp(theta * n.loss - top);
  GridPlan plan;
  double above = 0;
  std::vector<double> from(kMostDoublings, kInfinity);
  for (const LossNode& n : nodes) {
    above += n.p;
    for (int k = 0; k < kMostDoublings; ++k) {
      const double stride = std::ldexp(1, k + 1);
      // Second-order estimates hold while cells are narrow beside the tilt.
      if (above * stride * stride <= kShare * total && stride * h * (1 + theta) <= 0.5)
        from[k] = n.loss;
    }
  }
  for (double f : from)
    if (f < kInfinity) plan.from.push_back(f);
  return plan;
}

CellGrid::CellGrid(double h, std::vector<std::int64_t> points)
    : h_(h),
      point_(std::move(points)),
      upper_(point_.size()),
      cell_(point_.size()),
      surplus_(point_.size()) {
  for (std::int64_t i : point_) loss_.push_back(static_cast<double>(i) * h);
}

template <class Piece>
void CellGrid::integrate(const Piece& piece, double tail, const LossLaw& law) {
  const auto [z0, z1] = extent(piece, tail, law);
  if (!(z0 < z1)) {
    high_.p += piece.mass();
    high_.q += piece.mass();
    return;
  }
  panels_ += panels(piece, z0, z1);
  if (!(panels_ <= kMostPanels)) {
    throw Unsupported(
        "the pld accountant cannot express a law with so little noise: it would take minutes",
        "add noise: a loss of many thousands protects nothing");
  }
  const double start = law.fold ? 0.0 : piece.at(z0).loss;
  auto k = static_cast<std::size_t>(std::upper_bound(loss_.begin(), loss_.end(), start) -
                                    loss_.begin()) -
           1;
  double from = z0;
  for (; from < z1 && k + 1 < loss_.size(); ++k) {
    const double width = fall(loss_[k + 1] - loss_[k]);
    for (const bool upper_half : {false, true}) {
      const double boundary = upper_half ? loss_[k + 1] : 0.5 * (loss_[k] + loss_[k + 1]);
      const double to = std::min(z1, piece.where(boundary, from));
      if (!(to > from)) continue;
      for_each_node(piece, from, to, [&](const PieceNode& n, double w) {
        add_in(k, upper_half, n.loss, n.p * w, width);
      });
      from = to;
    }
  }
  const PieceTail below = law.fold ? PieceTail{} : piece.below(z0), above = piece.above(from);
  low_.p += below.p;
  low_.q += below.q;
  high_.p += above.p;
  high_.q += above.q;
}

void CellGrid::add_in(std::size_t k, bool upper_half, double loss, double p, double width) {
  const double above = fall(loss - loss_[k]);
  const double up = p * std::clamp(above / width, 0.0, 1.0);
  upper_[k] += p - up;
  upper_[k + 1] += up;
  const std::size_t c = k + (upper_half ? 1 : 0);
  cell_[c] += p;
  surplus_[c] += p * (upper_half ? fall(loss - loss_[c]) : above);
}

void CellGrid::add_atom(double loss, double p) {
  const auto k =
      static_cast<std::size_t>(std::upper_bound(loss_.begin(), loss_.end(), loss) - loss_.begin()) -
      1;
  for (const std::size_t near : {k, k + 1}) {
    if (std::abs(loss - loss_[near]) < kSnap * h_) {
      upper_[near] += p;
      cell_[near] += p;
      return;
    }
  }
  add_in(k, loss > 0.5 * (loss_[k] + loss_[k + 1]), loss, p, fall(loss_[k + 1] - loss_[k]));
}

CellGrid CellGrid::mirrored() const {
  const std::size_t n = point_.size();
  std::vector<std::int64_t> points(n);
  for (std::size_t k = 0; k < n; ++k) points[n - 1 - k] = -point_[k];
  CellGrid out(h_, std::move(points));
  for (std::size_t k = 0; k < n; ++k) {
    if (upper_[k] == 0 && cell_[k] == 0) continue;
    const double ratio = std::exp(-loss_[k]);
    out.upper_[n - 1 - k] = upper_[k] * ratio;
    out.cell_[n - 1 - k] = (cell_[k] - surplus_[k]) * ratio;
    out.surplus_[n - 1 - k] = -surplus_[k] * ratio;
  }
  out.low_ = {high_.q, high_.p};
  out.high_ = {low_.q, low_.p};
  out.outside_ = {{outside_.below.q, outside_.below.p}, {outside_.above.q, outside_.above.p}};
  out.p_infinite_ = q_infinite_;
  out.q_infinite_ = p_infinite_;
  out.charged_ = charged_;
  out.shift_ = shift_;
  out.slack_ = slack_;
  return out;
}

void CellGrid::fold(double p_infinite_of_law) {
  // Both halves on the union of their points, and for loss 0 what is left of the mass.
  const CellGrid mirror = mirrored();
  std::vector<std::int64_t> points;
  std::set_union(mirror.point_.begin(), mirror.point_.end(), point_.begin(), point_.end(),
                 std::back_inserter(points));
  CellGrid out(h_, std::move(points));
  double p = high_.p + p_infinite_of_law, q = high_.q;
  for (const CellGrid* g : {static_cast<const CellGrid*>(this), &mirror}) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < g->point_.size(); ++k) {
      while (out.point_[at] < g->point_[k]) ++at;
      out.upper_[at] += g->upper_[k];
      out.cell_[at] += g->cell_[k];
      out.surplus_[at] += g->surplus_[k];
      (g == this ? p : q) += g->upper_[k];
    }
  }
  const double rest = std::max(0.0, 1 - p - q);
  const auto zero = static_cast<std::size_t>(
      std::lower_bound(out.point_.begin(), out.point_.end(), 0) - out.point_.begin());
  out.upper_[zero] += rest;
  out.cell_[zero] += rest;
  out.high_ = high_;
  out.low_ = {high_.q, high_.p};
  out.outside_ = outside_;
  out.p_infinite_ = out.q_infinite_ = p_infinite_of_law;
  out.charged_ = charged_;
  out.shift_ = shift_;
  out.slack_ = slack_;
  *this = std::move(out);
}

StepLaw CellGrid::upper_step() const {
  // What was cut off at either end counts as lost: it is a fraction of δ chosen to be negligible.
  // So does mass that is not there: the mirror image of masses below the smallest number.
  double lost = p_infinite_ + charged_ + high_.p + low_.p +
                kOutsideError * (outside_.above.p + outside_.below.p),
         held = 0;
  for (double p : upper_) held += p;
  if (const double missing = 1 - held - lost; missing > kMassRounding) lost += missing;
  return {point_, upper_, lost, 0, shift_, slack_};
}

StepLaw CellGrid::lower_step() const {
  StepLaw law{point_, merge_cells(loss_, cell_, surplus_), p_infinite_, 0, shift_, slack_};
  law.infinite += outside_.above.p * (1 - kOutsideError);
  if (outside_.above.p > 0)
    law.far = std::max(outside_.above.q * (1 + kOutsideError), std::numeric_limits<double>::min());
  return law;
}

namespace {
// The losses of a law but for its tails, and how far its pieces reach in their own coordinate.
struct Extent {
  Range losses;
  double reach = 0;
};

Extent extent_of(const LossLaw& law, double tail) {
  Extent e;
  if (law.fold) e.losses.include(0);
  for (const LossAtom& a : law.atoms)
    if (inside(law, a)) e.losses.include(a.loss);
  for (const LossPiece& piece : law.pieces) {
    std::visit(
        [&](const auto& x) {
          const auto [z0, z1] = extent(x, tail, law);
          if (!(z0 < z1)) return;
          if ((z1 - z0) * x.growth(z1) > 3e7) {
            throw AccountingError(
                "the noise is so small beside the sensitivity that the privacy loss cannot be "
                "bounded",
                "raise the noise multiplier");
          }
          e.losses.include(x.at(z0).loss);
          e.losses.include(x.at(z1).loss);
          e.reach = std::max({e.reach, std::abs(z0), std::abs(z1)});
        },
        piece);
  }
  if (!(e.losses.low <= e.losses.high)) e.losses.low = e.losses.high = 0;
  return e;
}
}  // namespace

double cells_to_make(const LossLaw& law, double h, double tail, const GridPlan& plan) {
  const Range range = extent_of(law, tail).losses;
  double cells = 0, from = range.low, stride = h;
  for (const double level : plan.from) {
    if (level > from) cells += (std::min(level, range.high) - from) / stride;
    from = std::clamp(level, from, range.high);
    stride *= 2;
  }
  return cells + (range.high - from) / stride;
}

CellGrid discretise(const LossLaw& law, double h, double tail, const GridPlan& plan) {
  const auto [range, reach] = extent_of(law, tail);
  if (!((range.high - range.low) / h < 3e7)) {
    throw AccountingError("the privacy loss of one use spans too many grid cells to be computed");
  }
  CellGrid grid(h, grid_points(range, h, plan));
  for (const LossPiece& piece : law.pieces) {
    std::visit([&](const auto& x) { grid.integrate(x, tail, law); }, piece);
  }
  for (const LossAtom& a : law.atoms) {
    if (inside(law, a)) {
      grid.add_atom(a.loss, a.p);
    } else {
      PieceTail& end = a.loss > law.highest ? grid.high_ : grid.low_;
      end.p += a.p, end.q += a.q;
    }
  }
  grid.outside_ = mass_outside(law, law.lowest, law.highest);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  grid.charged_ = law.charged;
  grid.slack_ = law.slack + kMassError + 2 * kUlp * reach * reach;
  grid.shift_ = law.shift + 16 * kUlp * (4 + largest + reach) + (law.atoms.empty() ? 0 : kSnap * h);
  if (law.fold) {
    grid.fold(law.p_infinite);
  } else {
    grid.p_infinite_ = law.p_infinite;
    grid.q_infinite_ = law.q_infinite;
  }
  return grid;
}

std::vector<LossNode> loss_nodes(const LossLaw& law, double tail) {
  std::vector<LossNode> nodes;
  for (const LossPiece& piece : law.pieces) {
    std::visit(
        [&](const auto& x) {
          const auto [z0, z1] = extent(x, tail, law);
          const int panels = static_cast<int>(std::ceil(std::min(1e6, (z1 - z0) / 0.5)));
          for (int i = 0; i < panels; ++i) {
            const double width = (z1 - z0) / panels;
            panel_nodes(x, z0 + i * width, width, 3 / width, [&](const PieceNode& n, double w) {
              nodes.push_back({n.loss, n.p * w});
            });
          }
        },
        piece);
  }
  for (const LossAtom& a : law.atoms)
    if (inside(law, a)) nodes.push_back({a.loss, a.p});
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
