// Neighbours of a CSV file, for trying what a command shows of one record.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"

namespace sotto::cli {

// How the neighbour comes about.
enum class Change { drop, add, replace, null };

// Changes that make neighbours under a relation.
std::vector<Change> changes_under(Relation relation);
std::string_view name(Change change);

class CsvText {
 public:
  // Header and records, line ends inside of quotes kept. Throws DataError without a header.
  CsvText(const std::string& path, char delimiter);

  std::size_t records() const { return records_.size(); }

  struct Pair {
    std::string a, b;        // texts of the two files
    std::size_t record = 0;  // which one was changed, from 1; 0: a new one
  };
  // The record in question stands last in both files, so that whatever is drawn by place is drawn
  // alike for all others. Records that are added or put in have cells of other records and huge
  // numbers; unreadable: also empty cells, unknown texts, and text where numbers stand.
  Pair neighbours(Change change, std::mt19937_64& random, bool unreadable) const;

 private:
  std::string made_up_record(std::mt19937_64& random, bool unreadable) const;

  char delimiter_;
  std::string header_;
  std::size_t columns_ = 0;
  std::vector<bool> numeric_;  // no cell of the column is anything but a number
  std::vector<std::string> records_;
};

}  // namespace sotto::cli
