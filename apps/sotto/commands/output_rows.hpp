// What a model makes of records, as lines of a CSV file or of JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/learning/model.hpp"

namespace sotto::cli {

// One line for each record, after the header of a CSV file.
class OutputRows {
 public:
  // id: the name of a column of the data that goes first; empty: none. Throws InvalidArgument when
  // it is also one of the columns.
  OutputRows(std::vector<OutputColumn> columns, std::string id, bool json);

  std::string header() const;
  std::string line(std::span<const double> values, const std::string& id) const;
  std::size_t width() const { return columns_.size(); }

 private:
  std::string json_line(std::span<const double> values, const std::string& id) const;
  const std::string& label(std::size_t c, double value) const;
  const char* end(std::size_t c) const { return c + 1 < columns_.size() ? "," : "\n"; }

  std::vector<OutputColumn> columns_;
  std::string id_;
  bool json_;
};

}  // namespace sotto::cli
