// A portrait of a model as text and as an SVG document.
#pragma once

#include <string>

#include "sotto/learning/portrait.hpp"

namespace sotto {

// Trees as indented lines; empty without any.
std::string to_text(const Portrait& portrait);
// Trees below each other, or one small plot for each column with a band for the noise.
std::string to_svg(const Portrait& portrait);

}  // namespace sotto
