#include "shell/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto::cli {

void Output::flush() {
  // Cleared first: what could not be written once is not tried again while the error is reported.
  std::string full;
  full.swap(buffer_);
  if (!full.empty()) sink_(full);
  full.clear();
  buffer_.swap(full);
}

Output::Sink descriptor_sink(int descriptor, std::string name) {
  return [descriptor, name = std::move(name)](std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(descriptor, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int reason = errno;
        if (reason == EPIPE) {
          throw StorageError(fmt::format("{} was closed before everything was written", name));
        }
        throw StorageError(fmt::format("cannot write to {}: {}", name, std::strerror(reason)),
                           reason == ENOSPC ? "free some space or write elsewhere" : "");
      }
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  };
}

Output::Sink string_sink(std::string& target) {
  return [&target](std::string_view text) { target.append(text); };
}

}  // namespace sotto::cli
