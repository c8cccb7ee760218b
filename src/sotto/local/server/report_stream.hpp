// Reports as they come: bytes in pieces of any size, binary records or lines of JSON.
//
// What       feed() takes the next bytes of one file or connection and hands on what is in them:
//            first the declaration, then the records. What cannot be read is counted.
// Guarantee  Memory is bounded by the longest record that is allowed, whatever a stranger sends.
// Method     The first byte tells: '{' begins lines of JSON, "SOTTOREP" binary records. A line that
//            is no record is one unreadable report. Where a binary record is broken nothing says
//            where the next one begins: it counts as one, and the rest is not read.
// Numerics   None.
// Reference  docs/local.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sotto/local/client/record.hpp"

namespace sotto::local {

class ReportStream {
 public:
  struct Receiver {
    // Once, before any record. Throws DataError when it cannot be used.
    std::function<void(const Declaration&)> declaration;
    std::function<void(const Record&)> record;
    std::function<void()> unreadable;
  };
  explicit ReportStream(Receiver receiver) : receiver_(std::move(receiver)) {}

  void feed(std::string_view bytes);
  void finish();                                         // what is left over is unreadable
  bool given_up() const { return form_ == Form::lost; }  // the rest is not read

 private:
  enum class Form { unknown, binary, lines, lost };
  std::size_t take_start(std::string_view bytes);
  std::size_t take_records(std::string_view bytes);
  std::size_t take_lines(std::string_view bytes, bool last);
  void lose();

  Receiver receiver_;
  Form form_ = Form::unknown;
  bool declared_ = false;
  std::string waiting_, client_, report_;
};

}  // namespace sotto::local
