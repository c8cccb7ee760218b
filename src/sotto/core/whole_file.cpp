#include "sotto/core/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

class Descriptor {
 public:
  // Without O_NONBLOCK, opening a pipe that nobody writes to never returns.
  explicit Descriptor(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string read_whole_file(const std::string& path, std::size_t limit, const std::string& hint) {
  const auto fail = [&](const std::string& what) {
    throw DataError(fmt::format("'{}' {}", path, what), hint);
  };
  if (path.find('\0') != std::string::npos) throw DataError("the name of a file holds a NUL", hint);
  const Descriptor file(path);
  if (file.number() < 0) fail(fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) fail("is not a regular file");
  const auto too_long = [&] { fail(fmt::format("is longer than {} bytes", limit)); };
  if (static_cast<std::size_t>(status.st_size) > limit) too_long();
  // The size is a hint: files of /proc have none, and a file may grow while it is read.
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::string text(std::min(static_cast<std::size_t>(status.st_size) + 1, limit + 1), '\0');
  std::size_t filled = 0;
  for (;;) {
    if (filled == text.size()) text.resize(std::min(filled + kStep, limit + 1));
    const ssize_t n = read(file.number(), text.data() + filled, text.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    filled += static_cast<std::size_t>(n);
    if (filled > limit) too_long();
    if (n == 0) break;
  }
  text.resize(filled);
  return text;
}

}  // namespace sotto
