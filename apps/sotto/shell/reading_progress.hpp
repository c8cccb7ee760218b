// How much of an input file has been read, as a percentage on the error stream.
//
// Under add_remove the number of rows, and with it the size of the file, is private; so neither is
// ever shown, only the part that is done.
// The system's count of bytes read by this process tells it, compressed or not, without a hook in
// the reader.
#pragma once

#include <cstdint>
#include <string>

#include "shell/context.hpp"

namespace sotto::cli {

class ReadingProgress {
 public:
  ReadingProgress(const std::string& path, Context& context);  // silent for standard input
  void tick();  // cheap: looks at the clock every few thousand calls only
  void finish() { progress_.finish(); }

 private:
  std::uint64_t size_ = 0, start_ = 0, ticks_ = 0;
  Progress progress_;
};

}  // namespace sotto::cli
