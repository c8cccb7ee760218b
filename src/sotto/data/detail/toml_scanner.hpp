// Detail: the small parts of TOML text: keys, strings, numbers, spaces and comments. toml_tree.hpp
// puts them together.
//
// Schemas may come from anyone: whatever the bytes are, each function returns what TOML 1.0 says or
// throws a SchemaProblem, and none reads beyond the text. The whole text is checked to be UTF-8
// first, so that everything after may look at single bytes.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto::detail {

class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text);  // throws SchemaProblem unless it is UTF-8

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  Position position() const;  // of the next character, counted from 1
  [[noreturn]] void fail(const std::string& what) const;

  void skip_spaces();   // within a line
  void skip_blank();    // also line ends and comments
  void end_line();      // nothing but a comment may follow
  bool accept(char c);  // takes it if it comes next
  void expect(char c, const char* where);

  struct Key {
    std::string name;
    Position at;
  };
  std::vector<Key> key();           // one or more names with dots between
  std::string string();             // "basic", 'literal', and both with three quotes
  nlohmann::ordered_json scalar();  // a number, true or false

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool line_end() const;
  void take_line_end();
  void skip_comment();
  std::string name();
  void take_escape(std::string& out);
  void plain(std::string& out);  // one character of a string, not a control character

  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  unsigned line_ = 1;
  mutable std::size_t counted_ = 0;  // column_ is the column of this byte
  mutable unsigned column_ = 1;
};

}  // namespace sotto::detail
