// Networks as a family, with its functions: for executables that link LibTorch.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto::deep {

Family network_family();

}  // namespace sotto::deep
