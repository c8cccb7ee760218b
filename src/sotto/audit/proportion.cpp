#include "sotto/audit/proportion.hpp"

#include <boost/math/special_functions/beta.hpp>

namespace sotto::audit {

double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == trials) return 1;
  return boost::math::ibeta_inv(static_cast<double>(successes) + 1,
                                static_cast<double>(trials - successes), 1 - alpha);
}

double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == 0) return 0;
  return boost::math::ibeta_inv(static_cast<double>(successes),
                                static_cast<double>(trials - successes) + 1, alpha);
}

}  // namespace sotto::audit
