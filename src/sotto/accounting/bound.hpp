// What an accountant answers: a certified interval for ε (or δ) and how it was found.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// The accountants, by the names the command line uses.
enum class Accountant { automatic, pld, rdp, zcdp, gdp, basic, advanced, optimal };

std::string_view name(Accountant accountant);        // "auto", "pld", …
Accountant parse_accountant(std::string_view text);  // throws InvalidArgument

// upper is a true upper bound of the optimal ε (or δ) of the events: what may be claimed.
// lower is a true lower bound (0 when the accountant cannot give one); upper − lower shows how
// tight the claim is.
struct Bound {
  double upper = 0;
  double lower = 0;
  Accountant accountant = Accountant::automatic;
  std::string
      conversion;  // in words, for certificates: "tight conversion from Rényi order 12.3", …
};

// A lower bound above an upper bound of the same number means that one of them is wrong: an
// internal error, never repaired in silence.
// Differences of rounding are none. Returns the lower bound, at most the upper one.
double consistent_lower(double lower, double upper, std::string_view what);

// One tolerance for accounting, calibration and certificates, so that a calibrated value meets its
// target wherever it is asked again.
inline constexpr double kAccountingTolerance = 1e-5;

struct AccountOptions {
  Accountant accountant = Accountant::automatic;
  double tolerance =
      kAccountingTolerance;  // wanted (upper − lower) / upper of the numerical accountant
  // Parameters of later events were chosen after seeing earlier releases: then only filters are
  // valid and PLD is refused.
  bool fully_adaptive = false;
  // A search needs only the claim: the numerical accountant then leaves the lower bound at 0, for
  // half the work.
  bool upper_only = false;
};

}  // namespace sotto
