// Numbers of 600 bits, just enough arithmetic for formulas that doubles cannot be trusted with.
#pragma once

#include <mpfr.h>

namespace sotto::test {

class Real {
 public:
  Real(double x = 0) { mpfr_init2(v_, kBits), mpfr_set_d(v_, x, MPFR_RNDN); }  // NOLINT: implicit
  Real(const Real& o) { mpfr_init2(v_, kBits), mpfr_set(v_, o.v_, MPFR_RNDN); }
  Real& operator=(const Real& o) { return mpfr_set(v_, o.v_, MPFR_RNDN), *this; }
  ~Real() { mpfr_clear(v_); }
  double value() const { return mpfr_get_d(v_, MPFR_RNDN); }
  friend Real operator+(const Real& a, const Real& b) { return apply(mpfr_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return apply(mpfr_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return apply(mpfr_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return apply(mpfr_div, a, b); }
  friend Real operator-(const Real& a) { return Real(0) - a; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend Real exp(const Real& a) { return apply(mpfr_exp, a); }
  friend Real log(const Real& a) { return apply(mpfr_log, a); }
  friend Real sqrt(const Real& a) { return apply(mpfr_sqrt, a); }
  friend Real erfc(const Real& a) { return apply(mpfr_erfc, a); }
  friend Real pow(const Real& a, const Real& b) { return apply(mpfr_pow, a, b); }

 private:
  template <class F>
  static Real apply(F f, const Real& a, const Real& b) {
    Real r;
    f(r.v_, a.v_, b.v_, MPFR_RNDN);
    return r;
  }
  template <class F>
  static Real apply(F f, const Real& a) {
    Real r;
    f(r.v_, a.v_, MPFR_RNDN);
    return r;
  }
  static constexpr mpfr_prec_t kBits = 600;
  mpfr_t v_;
};

// Of the standard normal law.
inline Real upper_tail(const Real& x) { return Real(0.5) * erfc(x / sqrt(Real(2))); }

}  // namespace sotto::test
