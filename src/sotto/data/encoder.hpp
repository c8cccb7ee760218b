// The encoder: turns the cells of a record into a vector of bounded norm. A pure function of the
// schema.
//
// What       numeric: clamped to its bounds, then scaled to [−1, 1] or [0, 1]; boolean: 0 or 1;
//            categorical: one-hot over the declared values, or over the buckets that a keyed hash
//            makes of them (category_hash.hpp), and, unless missing cells are refused, an implicit
//            "other"; date and time: their parts, as numbers and categories (date.hpp);
//            text: hashed words (text_hash.hpp). With basis = "hats" a numeric feature is followed
//            by its hat functions (hat_basis.hpp). Then the row is scaled down to the norm bound.
// Guarantee  For every input whatever, each encoded row is finite and has ℓ2 norm ≤ norm_bound()
//            (as real numbers, not only as computed), each numeric target lies in [−1, 1] and each
//            class or group index is in range. Nothing is learnt from the data.
// Method     Without clipping, each column, and each part of a date, contributes at most 1 to the
//            squared norm and its hats at most 1 more, so the norm is at most
//            √(number of columns and parts + number of those with hats); norm_bound() is the
//            smaller of that and the declared feature_norm. A one-hot part is stored as the index
//            of its 1; hats are not stored but computed from the value.
// Numerics   The clipping factor is rounded down by (width + 8)·2⁻⁵², more than the error of the
//            computed norm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/hat_basis.hpp"
#include "sotto/data/label_index.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

// A cell that the schema refuses; the loader adds the file, column and row.
struct CellRefused {
  std::string what, hint;
};

// How one column is read: shared by features, targets and groups.
class ColumnEncoder {
 public:
  ColumnEncoder(const ColumnSchema& column, Scaling scaling,
                const std::vector<std::string>& missing_values);
  // A bucket of a text.
  static ColumnEncoder bucket(const ColumnSchema& text, std::size_t bucket);
  // A part of a date or time: column() is that of the part, cells are those of the whole.
  ColumnEncoder(const ColumnSchema& column, DatePart part, Scaling scaling,
                const std::vector<std::string>& missing_values);

  // With the buckets as values where the column is hashed.
  const ColumnSchema& column() const { return column_; }
  bool is_numeric() const { return column_.type == ColumnType::numeric; }
  bool is_categorical() const { return column_.type == ColumnType::categorical; }
  bool is_hashed() const { return hashed_; }  // a bucket of a text, a number in [−1, 1]

  // numeric: the clamped and scaled value; boolean: 0, 1, or ½ for a missing cell. Throws
  // CellRefused.
  double value(std::string_view cell) const;
  double value(double number) const;  // a boolean is 0 or 1
  // categorical: the index of the category, values.size() for "other"; boolean: 0 or 1. Throws
  // CellRefused.
  std::uint32_t index(std::string_view cell) const;
  // Of the value in the declared list; the value itself where values are hashed, as in a file.
  std::uint32_t index(double position) const;
  // The same for a cell that is one of the declared values as they are written (0 and 1 for a
  // boolean without any) and does not mean missing; nothing for any other.
  std::optional<std::uint32_t> declared(std::string_view cell) const {
    return index_.find(trimmed(cell));
  }
  // The names behind index(): the declared values and, where it exists, "other"; false and true for
  // a boolean.
  const std::vector<std::string>& labels() const { return labels_; }
  // Whether the cell says nothing: empty, marked as missing, or a number that is not finite.
  bool is_missing(std::string_view cell) const;
  // A scaled value in the unit of the column.
  double unscaled(double value) const;
  // Whether the bounds of the column clamp this cell; false for what is no number.
  bool is_clamped(std::string_view cell) const;

 private:
  double scaled(double number) const;
  double numeric(std::string_view cell) const;
  double boolean(std::string_view cell) const;
  double missing(std::string_view what) const;
  bool is_marked(std::string_view trimmed_cell) const;  // empty or marked as missing
  NumberCell number_of(std::string_view cell) const;    // the number, or the part of the date
  std::string kind() const;                             // what the cell should have been

  ColumnSchema column_;
  double middle_, half_width_, per_half_width_;  // of the bounds; the last 0: divide
  bool to_unit_;                                 // [0, 1] instead of [−1, 1]
  struct Part {
    DatePart part;
    DateOrder order;
    bool time_only;
    double origin;  // subtracted
  };
  std::optional<Part> part_;  // of a date or time
  std::optional<CategoryBuckets> buckets_;
  bool hashed_ = false;
  std::vector<std::string> missing_values_, labels_;
  LabelIndex index_;  // of the declared values that do not mean missing
};

class Encoder {
 public:
  explicit Encoder(Schema schema);  // throws DataError when there is no feature

  const Schema& schema() const { return schema_; }

  // The declared columns that are read, in their order, and which of features() each becomes: one,
  // the parts of a date or time, or the buckets of a text.
  struct Input {
    ColumnSchema column;
    std::size_t first, count;
    bool takes_numbers() const { return whole.empty() && column.parts.empty(); }
    std::vector<ColumnEncoder> whole = {};  // of a text: how a missing cell is told
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  // One that tells whether the cell of an input says nothing.
  const ColumnEncoder& teller(std::size_t input) const {
    const Input& i = inputs_[input];
    return i.whole.empty() ? features_[i.first] : i.whole.front();
  }

  // The columns that make up the encoded row, in its order. A column is either dense (one
  // coordinate, numeric or boolean, and the hats of a numeric one after it) or hot (one of a run of
  // coordinates is 1).
  const std::vector<ColumnEncoder>& features() const { return features_; }
  // The coordinates of the f-th of them.
  struct Run {
    std::size_t first, width;
    bool hats;  // the first coordinate, then HatBasis::kWidth hats
  };
  Run run(std::size_t f) const;
  const std::optional<HatBasis>& hats(std::size_t dense_column) const {
    return hats_[dense_column];
  }
  std::size_t width() const { return names_.size(); }  // of an encoded row
  const std::vector<std::string>& feature_names() const {
    return names_;
  }  // "age", "workclass=Private", …
  std::span<const std::uint32_t> dense_positions() const {
    return dense_positions_;
  }  // coordinates of the dense columns
  std::size_t hot_columns() const { return hot_positions_.size(); }
  std::span<const std::uint32_t> hot_positions() const {
    return hot_positions_;
  }  // the first coordinate of each one-hot column
  double norm_bound() const { return norm_bound_; }

  // Reads one cell for each of inputs(). `dense` gets the dense values, `hot` the
  // coordinates that are 1; the result is the factor ≤ 1 by which the whole row is multiplied.
  // Throws CellRefused with `column` set to the culprit among them.
  double encode(std::span<const std::string_view> cells, std::span<double> dense,
                std::span<std::uint32_t> hot, std::size_t& column) const;
  // The same for cells that are numbers already.
  double encode(std::span<const double> cells, std::span<double> dense,
                std::span<std::uint32_t> hot, std::size_t& column) const;
  // Writes the row out in full.
  void expand(std::span<const double> dense, std::span<const std::uint32_t> hot, double factor,
              std::span<double> row) const;
  void expand(std::span<const double> dense, std::span<const std::uint32_t> hot, double factor,
              std::span<float> row) const;

  bool has_target() const { return !target_.empty(); }
  const ColumnEncoder& target() const;  // throws DataError when the schema has none
  bool is_classification() const { return has_target() && !target().is_numeric(); }
  // The class index, or the target scaled to [−1, 1].
  double encode_target(std::string_view cell) const;
  double encode_target(double cell) const;

  // Columns with role group; any categorical or boolean column can serve as one (evaluation by
  // group).
  const std::vector<ColumnEncoder>& groups() const { return groups_; }
  ColumnEncoder group(std::string_view column) const;  // throws DataError

 private:
  bool has_hats(const ColumnEncoder& column) const {
    return schema_.basis == NumericBasis::hats && column.is_numeric() && !column.is_hashed();
  }
  // A dense value with the bounds at −1 and 1, whatever the scaling.
  double symmetric(double value) const {
    return schema_.scaling == Scaling::unit ? 2 * value - 1 : value;
  }
  template <class Cell>
  double encode_cells(std::span<const Cell> cells, std::span<double> dense,
                      std::span<std::uint32_t> hot, std::size_t& column) const;
  double square(std::span<const double> dense) const;
  template <class Number>
  void expand_to(std::span<const double> dense, std::span<const std::uint32_t> hot, double factor,
                 std::span<Number> row) const;

  void add_input(const ColumnSchema& column);

  Schema schema_;
  std::vector<Input> inputs_;
  std::vector<ColumnEncoder> features_, target_, groups_;  // target_: none or one
  std::vector<std::uint32_t> offsets_;  // of each feature column in the encoded row
  std::vector<std::uint32_t> dense_positions_, hot_positions_;
  std::vector<std::optional<HatBasis>> hats_;  // of each dense column
  std::vector<std::string> names_;
  double norm_bound_ = 0;
};

nlohmann::ordered_json to_json(const Encoder& encoder);
Encoder encoder_from_json(const nlohmann::ordered_json& json);  // throws DataError

}  // namespace sotto
