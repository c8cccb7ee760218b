// An encoded table, and how a file becomes one: whole, or as a stream of blocks for data larger
// than memory.
//
// A file is CSV, .npy or IDX, plain or gzip (array_text.hpp): told by its first bytes, not by its
// name.
//
// Rows are kept compactly: the dense values, the positions of the ones of the one-hot parts, and
// the clipping factor of the row (encoder.hpp). row() and matrix() write them out in full.
//
// Null records: under zero_out a record is null when every cell that is read of it is missing,
// whatever the columns' policies say of missing cells; its user is not asked. It is a row like any,
// but row() writes NaN, which models take as no contribution at all, its target and groups are 0
// and mean nothing. Files to predict on have no null records: every row gets its prediction,
// whoever its user is.
//
// User level: when the schema's unit is the user, at most max_contributions records of each user
// are kept, chosen before anything is computed: those whose encoded content has the smallest hash
// under a fixed public key (ties are equal records). The choice for a user is a function of the
// multiset of that user's own records: another user's records, the order of the file and threads
// play no part, so adding or removing a user changes the kept records by that user's at most
// max_contributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/csv.hpp"
#include "sotto/data/encoder.hpp"

namespace sotto {

class Table {
 public:
  explicit Table(const Encoder& encoder)
      : encoder_(&encoder) {}  // the encoder must outlive the table

  const Encoder& encoder() const { return *encoder_; }
  std::size_t rows() const { return factors_.size(); }
  std::size_t width() const { return encoder_->width(); }

  std::span<const double> dense(std::size_t row) const;
  std::span<const std::uint32_t> hot(std::size_t row) const;
  double factor(std::size_t row) const { return factors_[row]; }  // NaN: a null record
  bool is_null(std::size_t row) const { return std::isnan(factors_[row]); }
  void row(std::size_t row, std::span<double> out) const;
  void row(std::size_t row, std::span<float> out) const;  // rounded to nearest

  std::span<const double> targets() const { return targets_; }  // empty when they were not read
  // groups(g)[row]: the row's index in the g-th group column.
  std::size_t group_columns() const { return groups_.size(); }
  std::span<const std::uint32_t> groups(std::size_t g) const { return groups_[g]; }

  std::span<const std::string> ids() const { return ids_; }  // empty when none were asked for

  // All rows in full, rows × width, row by row.
  std::vector<double> matrix() const;

  void append(const Table& other) { append(other, 0, other.rows()); }
  void append(const Table& other, std::size_t first, std::size_t count);
  void reserve(std::size_t rows);
  // What a reader fills in.
  struct Sink {
    std::span<double> dense;
    std::span<std::uint32_t> hot;
    double& factor;
  };
  Sink add_row();
  void add_target(double target) { targets_.push_back(target); }
  void add_group(std::size_t g, std::uint32_t index);
  void add_id(std::string_view id) { ids_.emplace_back(id); }

 private:
  const Encoder* encoder_;
  std::vector<double> dense_, factors_, targets_;
  std::vector<std::uint32_t> hot_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::string> ids_;
};

struct TableOptions {
  CsvOptions csv = {};
  bool targets = true;                         // false: prediction on files without the target
  std::vector<std::string> extra_groups = {};  // group columns besides those of the schema
  std::string id = {};  // a column whose cells are kept as they are; empty: none
};

// Throws DataError. Where the relation makes the number of rows public and the schema declares it,
// the file must have that many.
Table load_table(const std::string& path, const Encoder& encoder, const TableOptions& options = {});

// The stream in parallel: `map` turns the rows of a part of the file into a Result, on any thread;
// `consume` gets the results in file order on the calling thread. Where the parts are cut depends
// on the file only. With the user-level unit both run on the calling thread.
template <class Result>
void map_table(const std::string& path, const Encoder& encoder,
               const std::function<Result(const Table&)>& map,
               const std::function<void(Result&&)>& consume, const TableOptions& options = {});

// At most block_rows rows at a time, in file order. Memory does not depend on the number of rows,
// except that the user-level unit reads the file twice and remembers max_contributions hashes for
// each user.
void for_each_block(const std::string& path, const Encoder& encoder, std::size_t block_rows,
                    const std::function<void(const Table&)>& visit,
                    const TableOptions& options = {});

namespace detail {
using AnyResult = std::shared_ptr<void>;
void map_parts(const std::string& path, const Encoder& encoder, const TableOptions& options,
               const std::function<AnyResult(Table&&)>& map,
               const std::function<void(AnyResult&&)>& consume);
}  // namespace detail

template <class Result>
void map_table(const std::string& path, const Encoder& encoder,
               const std::function<Result(const Table&)>& map,
               const std::function<void(Result&&)>& consume, const TableOptions& options) {
  detail::map_parts(
      path, encoder, options,
      [&](Table&& part) -> detail::AnyResult { return std::make_shared<Result>(map(part)); },
      [&](detail::AnyResult&& result) { consume(std::move(*static_cast<Result*>(result.get()))); });
}

}  // namespace sotto
