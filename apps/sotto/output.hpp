// A buffered stream of result bytes that notices when they do not arrive.
//
// A closed pipe or a full disk is a StorageError (exit 6), never silence: half a result must not
// look like a whole one.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace sotto::cli {

class Output {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit Output(Sink sink) : sink_(std::move(sink)) { buffer_.reserve(2 * kFlushAt); }

  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFlushAt) flush();
  }
  template <class... A>
  void print(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<A>(arguments)...);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void flush();

 private:
  static constexpr std::size_t kFlushAt = 1 << 16;
  Sink sink_;
  std::string buffer_;
};

// Writes everything or throws StorageError; `name` is what the message calls it, e.g. "standard
// output".
Output::Sink descriptor_sink(int descriptor, std::string name);
// For tests and for building documents in memory.
Output::Sink string_sink(std::string& target);

}  // namespace sotto::cli
