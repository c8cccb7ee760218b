// What Ctrl-C says beyond "interrupted", while something durable is under way.
#pragma once

#include <string>

namespace sotto::cli {

void set_interruption_note(const std::string& line);  // empty: nothing to say

// For the handler of the signal: writes the note to standard error.
void write_interruption_note() noexcept;

}  // namespace sotto::cli
