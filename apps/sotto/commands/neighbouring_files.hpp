// Neighbours of a CSV file, for trying what a command shows of one record.
#pragma once

#include <cstdint>
#include <optional>
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

// Records of one user are one unit: all with the same text in this column.
struct UserColumn {
  std::string name;
  std::uint64_t contributions = 1;  // how many records of a user are kept
};

class CsvText {
 public:
  // Header and records, line ends inside of quotes kept. Without a delimiter it is found as the
  // reader does, in the header. Throws DataError without a header, or without the user's column.
  CsvText(const std::string& path, std::optional<char> delimiter,
          const std::optional<UserColumn>& user = std::nullopt);

  std::size_t records() const { return records_.size(); }
  const std::string& header() const { return header_; }
  const std::string& record(std::size_t i) const { return records_[i]; }
  char delimiter() const { return delimiter_; }
  // Names of the columns; cells of a record, as they are read: without their quotes.
  std::vector<std::string> names() const { return cells(header_); }
  std::vector<std::string> cells(const std::string& record) const;
  // One record of cells, quoted where that is needed.
  std::string record_of(const std::vector<std::string>& cells) const;
  // A record without any value.
  std::string blank() const { return std::string(columns_ - 1, delimiter_); }

  struct Pair {
    std::string a, b;        // texts of the two files
    std::size_t record = 0;  // which one was changed (the first of a user), from 1; 0: a new one
  };
  // A record, or all records of a user.
  using Unit = std::vector<std::string>;
  // The unit in question stands last in both files, so that whatever is drawn by place is drawn
  // alike for all others. Records that are added or put in have cells of other records and huge
  // numbers; unreadable: also empty cells, unknown texts, and text where numbers stand. What
  // replaces a user has as many records.
  Pair neighbours(Change change, std::mt19937_64& random, bool unreadable) const;
  // The same with units of the caller's choice: what is added, or both that stand in one place,
  // or what is nulled.
  Pair neighbours(Change change, const Unit& unit, const Unit& other,
                  std::mt19937_64& random) const;
  // One record, or some of a user that nobody is: up to a few more than are kept.
  Unit made_up(std::mt19937_64& random, bool unreadable) const;
  // Most cells of the one, some of the other.
  Unit crossed(const Unit& most, const Unit& some, std::mt19937_64& random) const;

 private:
  void find_users(const UserColumn& user);
  std::string made_up_record(std::mt19937_64& random, bool unreadable) const;
  Unit made_up(std::size_t records, std::mt19937_64& random, bool unreadable) const;
  std::string crossed(const std::string& most, const std::string& some,
                      std::mt19937_64& random) const;
  Unit nulled(const Unit& unit) const;  // users keep their name
  // All but these records, which are in order.
  std::string without(const std::vector<std::size_t>& left_out) const;

  char delimiter_;
  std::string header_;
  std::size_t columns_ = 0;
  std::vector<bool> numeric_;  // no cell of the column is anything but a number
  std::vector<std::string> records_;
  std::vector<std::vector<std::size_t>> units_;  // records of each
  std::optional<std::size_t> user_;              // the column
  std::uint64_t contributions_ = 1;
  std::string stranger_;  // a name that no user has
};

}  // namespace sotto::cli
