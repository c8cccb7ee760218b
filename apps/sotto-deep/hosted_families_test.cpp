// Puts the families that need LibTorch into the list, for the tests that walk over it.
#include "families.hpp"
#include "sotto/deep/family/network_family.hpp"

namespace sotto::cli::hosted_families_test {

[[maybe_unused]] const bool hosted = (host(deep::network_family()), true);

}  // namespace sotto::cli::hosted_families_test
