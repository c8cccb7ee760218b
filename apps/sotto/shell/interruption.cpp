#include "shell/interruption.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace sotto::cli {
namespace {

std::array<char, 1024> note;  // a handler may neither allocate nor lock
std::atomic<std::size_t> length{0};

}  // namespace

void set_interruption_note(const std::string& line) {
  length = 0;
  const std::size_t n = std::min(line.size(), note.size() - 1);
  std::copy_n(line.begin(), n, note.begin());
  if (n > 0) note[n] = '\n', length = n + 1;
}

void write_interruption_note() noexcept {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, note.data(), length);
}

}  // namespace sotto::cli
