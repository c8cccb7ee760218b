// The privacy profile of a composition: certified bounds of ε(δ) and δ(ε), asked as often as one
// likes.
//
// What       PrivacyProfile holds the loss laws of the runs; each question chooses grid, tilt and
//            window for the wanted tolerance.
// Guarantee  upper is a true upper bound of the optimal value for the events, lower a true lower
//            bound of what some mechanism described by the events attains.
// Method     The gap of connect-the-dots and merging is T(1+θ)h²/8 in ε, which gives the grid; it
//            is measured and refined if needed.
//            The number of cells, of points of a transform and of rounds is limited by the
//            tolerance asked for: beyond it the gap stays larger than wanted, and upper and lower
//            say so.
// Numerics   Truncation, aliasing and round-off of the transform are bounded and charged outwards
//            (docs/math/pld.md §5–6).
//            See compose.hpp and grid.hpp; estimates (moments.hpp) choose parameters only.
// Reference  docs/math/pld.md §7.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sotto/accounting/pld/compose.hpp"
#include "sotto/accounting/pld/moments.hpp"

namespace sotto {

// One mechanism used `count` times.
struct LawRun {
  LossLaw upper;  // dominates it
  std::uint64_t count = 1;
  bool attained = true;          // upper is attained by a mechanism of this description
  std::optional<LossLaw> lower;  // else: a law that is attained, if one is known
  // Where many laws are attained: the one with the largest moment of order θ, which is the best for
  // compositions near that tilt.
  std::function<LossLaw(double theta)> attained_at = nullptr;
  bool pointwise =
      false;  // every point of the upper curve is attained, if not all by one mechanism
};

struct CertifiedInterval {
  double upper = 0, lower = 0;
};

// Which neighbours: removal compares P with Q, addition Q with P; both takes the worse.
enum class Direction { both, removal, addition };

// upper: the lower bound stays 0 and the grid is the one the tolerance suggests, not measured. For
// searches.
enum class Wanted { both, upper };

// From this tolerance on little work is done.
inline constexpr double kCoarseTolerance = 2e-2;

class PrivacyProfile {
 public:
  explicit PrivacyProfile(std::vector<LawRun> runs);

  // Throw AccountingError when nothing can be bounded.
  CertifiedInterval epsilon(double delta, double tolerance, Direction direction = Direction::both,
                            Wanted wanted = Wanted::both) const;
  CertifiedInterval delta(double epsilon, double tolerance, Direction direction = Direction::both,
                          Wanted wanted = Wanted::both) const;

  // Grid used last, for benches and tests.
  struct Work {
    double h = 0;
    std::size_t transform = 0;
    int rounds = 0;
  };
  const Work& work() const { return work_; }

 private:
  struct Question {
    bool for_epsilon;  // ε wanted, value is δ; else the other way round
    double value;
    double tolerance;
    Wanted wanted = Wanted::both;
  };
  struct Candidate {
    bool reverse;
    Saddle saddle;
    double tilt,
        spread;  // the tilt to start with, and the standard deviation of the total tilted so
  };
  struct Grids {
    std::vector<CellGrid> upper;  // of each run
    std::vector<std::vector<CellGrid>>
        lower;  // likewise, of laws that are attained, several to try
  };

  Candidate candidate_at(const Question& question, Saddle saddle, const LossMoments& moments,
                         bool reverse) const;
  std::vector<Candidate> candidates_for(const Question& question, const LossMoments& moments,
                                        Direction direction) const;
  // What estimates say of a question.
  struct Setting {
    LossMoments moments;
    std::vector<Candidate> candidates;
    double tail = 0;   // mass that is cut off
    double about = 0;  // ε
  };
  Setting setting_for(const Question& question, Direction direction) const;
  double mass_beyond(double end) const;  // of losses beyond ±end, of all uses, under P and under Q
  PrivacyProfile bounded(double end) const;  // losses beyond ±end are taken as without end
  struct Bounded;
  std::optional<Bounded> without_far_losses(const Question& question, Direction direction) const;
  CertifiedInterval trimmed_answer(const Question& question, Direction direction) const;
  CertifiedInterval answer(const Question& question, Direction direction) const;
  struct Refined {
    CertifiedInterval interval;
    double h = 0;
    Grids grids;
  };
  Refined refine(const Question& question, Candidate candidate, const LossMoments& moments,
                 double tail) const;
  CertifiedInterval one_direction(const Question& question, const Grids& grids, double h,
                                  const Candidate& candidate) const;
  bool dominated(const Question& question, const Grids& grids, double h, double bound,
                 const Saddle& saddle, bool reverse) const;
  bool dominated_on_coarse_grid(const Question& question, double h, double tail, double theta,
                                double bound, const Candidate& candidate) const;
  std::vector<GridPlan> plans_for(double h, double tail, double theta) const;
  double cells_of(const std::vector<GridPlan>& plans, double h, double tail) const;
  Grids grids_for(const Question& question, const std::vector<GridPlan>& plans, double h,
                  double tail, double theta) const;
  CertifiedInterval exact(const Question& question, Direction direction) const;
  using Curve = std::function<double(double epsilon)>;
  static CertifiedInterval solved(const Question& question, const Curve& upper, const Curve& lower);
  double one_by_one(const Question& question, Direction direction) const;
  double finest_grid(const Question& question, const Candidate& candidate) const;
  double choose_grid(const Question& question, const Candidate& candidate) const;
  void merge_gaussians();
  void find_anchor();

  std::vector<LawRun> runs_;
  bool symmetric_ = true, attained_ = true;  // of all runs
  double uses_ = 0;                          // in all
  double off_grid_ = 0;  // uses of laws that a multiple of the anchor does not hold exactly
  double anchor_ = 0;    // a loss that atoms are multiples of; 0: none
  double largest_total_ = 0, lost_ = 0;  // Σ of the largest losses, and the mass beyond
  double range_ = 1e-300;                // of the loss of one use
  double cell_price_ = 1;                // of a cell of its grid
  mutable Work work_;
};

struct PrivacyProfile::Bounded {
  PrivacyProfile profile;
  double end;  // losses from here on are far; those of the profile may end before, where no others
               // are
};

}  // namespace sotto
