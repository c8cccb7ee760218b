// What an error of kind E says that f throws; empty when it throws none.
#pragma once

#include <string>

namespace sotto::deep {

template <class E, class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

}  // namespace sotto::deep
