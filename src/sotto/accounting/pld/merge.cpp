#include "sotto/accounting/pld/detail/merge.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

constexpr std::ptrdiff_t kReach = 4096;  // neighbours looked at

class Merger {
 public:
  Merger(std::span<const double> losses, std::vector<double> cells, std::vector<double> surpluses)
      : loss_(losses),
        cell_(std::move(cells)),
        surplus_(std::move(surpluses)),
        out_(cell_.size()) {}

  std::vector<double> run() {
    const auto n = static_cast<std::ptrdiff_t>(cell_.size());
    // Left of a mode cells have losses above their point and take from below; right of it the other
    // way round.
    for (std::ptrdiff_t k = n - 1; k >= 0; --k)
      if (surplus_[k] >= 0) settle(k, -1);
    for (std::ptrdiff_t k = 0; k < n; ++k) settle(k, +1);
    return std::move(out_);
  }

 private:
  // What a mass with a surplus at point j has as surplus at point k.
  double seen_from(std::ptrdiff_t k, std::ptrdiff_t j, double mass, double surplus) const {
    return mass - (mass - surplus) * std::exp(loss_[k] - loss_[j]);
  }

  // Cell k is balanced by cells on the given side, the nearest first, then placed.
  void settle(std::ptrdiff_t k, int side) {
    const auto n = static_cast<std::ptrdiff_t>(cell_.size());
    if (cell_[k] <= 0) return;
    double mass = cell_[k], need = surplus_[k];
    cell_[k] = surplus_[k] = 0;
    for (std::ptrdiff_t d = 1; need * side < 0 && d <= kReach; ++d) {
      const std::ptrdiff_t j = k + side * d;
      if (j < 0 || j >= n) break;
      if (cell_[j] <= 0) continue;
      const double have = seen_from(k, j, cell_[j], surplus_[j]);
      if (have * side <= 0) continue;
      const double w = std::min(1.0, -need / have);
      mass += w * cell_[j];
      need = w < 1 ? 0 : need + have;
      cell_[j] *= 1 - w;
      surplus_[j] *= 1 - w;
    }
    if (need * side >= 0) {
      out_[k] += mass;
    } else if (side < 0 && k + 1 < n && cell_[k + 1] > 0) {
      // Nothing below is left (the lower end of the losses): the next cell up, still to be settled,
      // takes it in.
      surplus_[k + 1] += seen_from(k + 1, k, mass, need);
      cell_[k + 1] += mass;
    } else if (!place_beyond(k, -side, mass, need)) {
      // Rounded down: to the point itself when the loss is above it, else to the one below.
      if (side < 0) {
        out_[k] += mass;
      } else if (k > 0) {
        out_[k - 1] += mass;
      }
    }
  }

  // The loss lies between points k and k + side: balance it at the latter, with masses further out
  // that are placed already (exactly at their point) or still to be settled.
  bool place_beyond(std::ptrdiff_t k, int side, double mass, double need) {
    const auto n = static_cast<std::ptrdiff_t>(out_.size()), target = k + side;
    if (target < 0 || target >= n) return false;
    double rest = seen_from(target, k, mass, need);  // of sign −side
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
      const double placed = out_[j] > 0 ? share(seen_from(target, j, out_[j], 0)) : 0;
      const double open = cell_[j] > 0 ? share(seen_from(target, j, cell_[j], surplus_[j])) : 0;
      if (placed > 0 || open > 0) shares.push_back({j, placed, open});
    }
    if (rest * side < 0) return false;
    for (const Share& s : shares) {
      mass += s.placed * out_[s.at] + s.open * cell_[s.at];
      out_[s.at] *= 1 - s.placed;
      cell_[s.at] *= 1 - s.open;
      surplus_[s.at] *= 1 - s.open;
    }
    out_[target] += mass;
    return true;
  }

  std::span<const double> loss_;
  std::vector<double> cell_, surplus_, out_;
};

}  // namespace

std::vector<double> merge_cells(std::span<const double> losses, std::vector<double> cells,
                                std::vector<double> surpluses) {
  return Merger(losses, std::move(cells), std::move(surpluses)).run();
}

}  // namespace sotto
