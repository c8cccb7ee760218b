#include "shell/reading_progress.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sotto::cli {
namespace {

constexpr std::uint64_t kTicks = 4096;

// Bytes this process has read so far; 0 where the system does not tell.
std::uint64_t bytes_read() {
  std::ifstream stream("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  return stream >> key >> value && key == "rchar:" ? value : 0;
}

}  // namespace

ReadingProgress::ReadingProgress(const std::string& path, Context& context)
    : progress_(context.progress("reading", 100)) {
  std::error_code none;
  if (path == "-" || !std::filesystem::is_regular_file(path, none)) return;
  size_ = std::filesystem::file_size(path, none);
  start_ = bytes_read();
  if (none || start_ == 0) size_ = 0;
}

void ReadingProgress::tick() {
  if (size_ == 0 || ++ticks_ % kTicks != 0) return;
  const double part = static_cast<double>(bytes_read() - start_) / static_cast<double>(size_);
  progress_.advance(static_cast<std::uint64_t>(std::clamp(100 * part, 0.0, 99.0)));
}

}  // namespace sotto::cli
