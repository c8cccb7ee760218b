// Numbers for people, rounded to the safe side: a claimed ε or δ never looks smaller than it is.
#pragma once

#include <string>

namespace sotto {

std::string round_up(double value, int digits = 6);    // significant digits, never below the value
std::string round_down(double value, int digits = 6);  // never above it

}  // namespace sotto
