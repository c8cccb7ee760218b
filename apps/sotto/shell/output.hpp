// A buffered stream of result bytes that notices when they do not arrive.
//
// A closed pipe or a full disk is a StorageError (exit 6), never silence: half a result must not
// look like a whole one. print() writes every text it is given with visible(), so that nothing from
// data, files or arguments can give orders to a terminal or forge a line; Bold and Lines are for
// what the program itself has set.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "sotto/core/text.hpp"

namespace sotto::cli {

// Text of several lines, each of them of this program's making; other text in it is visible()
// already.
struct Lines {
  std::string text;
};

// Lines that stand out where colour is on.
struct Bold {
  std::string text;
  bool on;
};

class Output {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit Output(Sink sink) : sink_(std::move(sink)) { buffer_.reserve(2 * kFlushAt); }

  // As it is: for what this program itself has made.
  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFlushAt) flush();
  }
  template <class... A>
  void print(fmt::format_string<A...> format, A&&... arguments) {
    print_shown(format, shown(arguments)...);
  }
  void flush();

 private:
  template <class T>
  static auto shown(const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return visible(value);
    } else if constexpr (std::is_same_v<T, Lines>) {
      return visible_lines(value.text);
    } else if constexpr (std::is_same_v<T, Bold>) {
      const std::string text = visible_lines(value.text);
      return value.on ? "\x1b[1m" + text + "\x1b[0m" : text;
    } else {
      static_assert(std::is_arithmetic_v<T>, "give text or a number, so that it is escaped");
      return value;
    }
  }
  template <class... A>
  void print_shown(fmt::string_view format, const A&... arguments) {
    fmt::vformat_to(std::back_inserter(buffer_), format, fmt::make_format_args(arguments...));
    if (buffer_.size() >= kFlushAt) flush();
  }

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

// For the check of formats at compile time; what is written is text by then.
template <>
struct fmt::formatter<sotto::cli::Bold> : fmt::formatter<std::string_view> {};
template <>
struct fmt::formatter<sotto::cli::Lines> : fmt::formatter<std::string_view> {};
