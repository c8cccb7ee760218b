// Individual accounting: every record has a budget of its own; contributions that would pass it are
// shortened or left out.
//
// What       IndividualBudget: what one record may spend, a public number. IndividualFilter: what
//            each has spent, private; admit() says whether a record takes part in a step and
//            charges it. filtered_gaussian_event(): what the whole run then costs.
// Guarantee  Let every step release Σ_i g_i + Gaussian noise of deviation σ over the records
//            admitted, with charges of at least ‖g_i‖². Whatever the records are and however the
//            steps depend on results before, the squared contributions of one record never add up
//            to more than b²; so all steps together are (f·b/σ)-GDP and (f·b/σ)²/2-zCDP, where f is
//            1 for one record under add_remove and zero_out, 2 under replace_one, times the records
//            of a user. Who was admitted, and what anybody spent, are private.
// Method     A step costs a record its squared norm as a share of the largest, C²; a step that does
//            not fit into what is left is left out and costs nothing (drop), or each contribution
//            is shortened to twice an equal share of what is left for the steps to come, so that
//            nobody runs out early (shorten). The budget is the number of steps of full norm that
//            it pays for. With noise for fewer of them than there are steps, records whose
//            gradients are short pay for all steps and the noise is smaller.
// Numerics   Whole numbers of 2⁻³² of a step of full norm, charges rounded up, limits down. The
//            event's μ is raised by 2⁻²⁰ of itself, and a failure of 2⁻⁶⁹ is added: that covers
//            the difference between discrete and continuous noise, which is proved for the plan's
//            own figures or else not claimed (ρ-zCDP holds for discrete noise as it is).
// Reference  [FZ21], [KTH23], [ST22]; docs/math/individual-accounting.md.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sotto/core/event.hpp"

namespace sotto {

class IndividualBudget {
 public:
  static constexpr std::uint64_t kFullStep = std::uint64_t{1} << 32;  // charge of one of norm C
  static constexpr double kMostSteps = 0x1p30;

  // Pays for so many steps of full norm, at least one (else whoever has it would never take part).
  // Throws InvalidArgument.
  explicit IndividualBudget(double full_steps);
  // From a bound on one record's whole loss; noise_multiplier: σ ÷ C.
  static IndividualBudget for_gdp(double mu, double noise_multiplier);
  static IndividualBudget for_zcdp(double rho, double noise_multiplier);
  static IndividualBudget for_renyi(double order, double divergence, double noise_multiplier);

  std::uint64_t limit() const { return limit_; }
  double full_steps() const;  // at most what was asked for
  // The charge of a contribution whose squared norm is this share of C², rounded up.
  static std::uint64_t charge(double squared_share);

 private:
  std::uint64_t limit_;
};

// What becomes of a contribution that is more than a record can pay for.
enum class OverBudget {
  shorten,  // a step may take nearly twice an equal share of what is left; more is shortened
  drop      // the record sits out the step
};
std::string_view name(OverBudget rule);
OverBudget parse_over_budget(std::string_view text);

class IndividualFilter {
 public:
  IndividualFilter(IndividualBudget budget, std::size_t private_records,
                   OverBudget over_budget = OverBudget::drop);

  // So many steps are left, this one included; a public number.
  void begin_step(std::uint64_t steps_left) { steps_left_ = steps_left; }

  // Whether the record takes part in this step at this charge. Any thread, one for a record at a
  // time.
  bool admit(std::size_t record, std::uint64_t charge) {
    if (charge > limit_ - spent_[record]) return false;
    spent_[record] += charge;
    return true;
  }
  // The same; by the rule `shorten`, what exceeds the allowance is shortened: shorten(factor)
  // multiplies the contribution, and returns the charge of what came of it.
  template <class Shorten>
  bool admit(std::size_t record, std::uint64_t charge, Shorten&& shorten) {
    const std::uint64_t most = allowance(record);
    if (over_budget_ == OverBudget::shorten && charge > most && most > 0)
      charge = shorten(std::sqrt(static_cast<double>(most) / static_cast<double>(charge)));
    return admit(record, charge);
  }

  // The most that a step may take of the record's budget. PRIVATE.
  std::uint64_t private_allowance(std::size_t record) const { return allowance(record); }
  // PRIVATE: for sums that are noised.
  const std::vector<std::uint64_t>& private_spent() const { return spent_; }

 private:
  std::uint64_t allowance(std::size_t record) const {
    const std::uint64_t left = limit_ - spent_[record];
    return over_budget_ == OverBudget::drop ? left : left / (steps_left_ + 1) * 2;
  }

  std::uint64_t limit_, steps_left_ = 1;
  OverBudget over_budget_;
  std::vector<std::uint64_t> spent_;
};

// The event of all steps of a filtered run whose noise is discrete, so many steps of the lattice
// in one deviation, on so many coordinates of all steps together; μ = f·b/σ, not rounded.
Event filtered_gaussian_event(double mu, double sigma_in_steps, double coordinates);

}  // namespace sotto
