// Validated values: an Epsilon, Delta, … that exists is in range, so no function has to check
// again.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/core/norm.hpp"

namespace sotto {

// A double that satisfies Limits::holds; Limits also says its name and what is allowed, for the
// error.
template <class Limits>
class Checked {
 public:
  explicit Checked(double value) : value_(value) {
    if (!Limits::holds(value)) {
      throw InvalidArgument(
          fmt::format("{} is {}; it must be {}", Limits::name, value, Limits::allowed),
          std::string(Limits::hint));
    }
  }
  double value() const { return value_; }
  friend bool operator==(Checked, Checked) = default;
  friend auto operator<=>(Checked, Checked) = default;

 private:
  double value_;
};

struct EpsilonLimits {
  static constexpr std::string_view name = "epsilon", allowed = "a finite number above 0";
  static constexpr std::string_view hint = "typical values lie between 0.1 (strong) and 10 (weak)";
  static bool holds(double v) { return v > 0 && std::isfinite(v); }
};
using Epsilon = Checked<EpsilonLimits>;

// δ strictly inside (0, 1): a guarantee with a failure probability.
struct DeltaLimits {
  static constexpr std::string_view name = "delta", allowed = "above 0 and below 1";
  static constexpr std::string_view hint =
      "choose delta well below 1 / (number of records), e.g. 1e-6";
  static bool holds(double v) { return v > 0 && v < 1; }
};
using Delta = Checked<DeltaLimits>;

struct RhoLimits {
  static constexpr std::string_view name = "rho", allowed = "a finite number above 0";
  static constexpr std::string_view hint =
      "rho is the zCDP parameter; 0.5 corresponds to a noise multiplier of 1";
  static bool holds(double v) { return v > 0 && std::isfinite(v); }
};
using Rho = Checked<RhoLimits>;

struct ProbabilityLimits {
  static constexpr std::string_view name = "probability", allowed = "between 0 and 1";
  static constexpr std::string_view hint = "";
  static bool holds(double v) { return v >= 0 && v <= 1; }
};
using Probability = Checked<ProbabilityLimits>;

struct SensitivityLimits {
  static constexpr std::string_view name = "sensitivity", allowed = "a finite number above 0";
  static constexpr std::string_view hint =
      "state how far one record can move the query under the relation";
  static bool holds(double v) { return v > 0 && std::isfinite(v); }
};

// How far the query moves between neighbours, and in which norm.
class Sensitivity {
 public:
  Sensitivity(double value, Norm norm) : value_(value), norm_(norm) {}
  double value() const { return value_.value(); }
  Norm norm() const { return norm_; }
  friend bool operator==(const Sensitivity&, const Sensitivity&) = default;

 private:
  Checked<SensitivityLimits> value_;
  Norm norm_;
};

// A closed interval with finite ends, lower < upper.
class Bounds {
 public:
  Bounds(double lower, double upper) : lower_(lower), upper_(upper) {
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper)) {
      throw InvalidArgument(
          fmt::format("bounds are [{}, {}]; lower must be below upper and both finite", lower,
                      upper),
          "bounds are public facts about the column, e.g. `lower` 0 and `upper` 120 for an age");
    }
  }
  double lower() const { return lower_; }
  double upper() const { return upper_; }
  friend bool operator==(const Bounds&, const Bounds&) = default;

 private:
  double lower_, upper_;
};

}  // namespace sotto
