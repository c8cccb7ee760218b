// Lines of text as a table with one character in each column, under declared facts: an alphabet
// and a length.
#pragma once

#include <string>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto::cli {

class TextTable {
 public:
  // Printable ASCII. Throws InvalidArgument.
  TextTable(const std::string& alphabet, std::size_t length);

  std::size_t length() const { return length_; }
  // The lines of a file, fitted: small letters, at most `length` characters, those that are not
  // declared replaced by the last one. Throws DataError when there is none.
  std::vector<std::string> lines(const std::string& path) const;
  // A text that must fit as it is, apart from # and ?. Throws InvalidArgument.
  std::string fitting(const std::string& text) const;

  // Every column has the characters and "end", which fills the rest of a line.
  Schema schema(std::uint64_t rows) const;
  std::string csv(const std::vector<std::string>& lines) const;

 private:
  std::string alphabet_;
  std::size_t length_;
};

}  // namespace sotto::cli
