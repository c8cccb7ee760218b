#include "sotto/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/contributions.hpp"
#include "sotto/data/detail/array_table.hpp"
#include "sotto/data/detail/record_numbers.hpp"
#include "sotto/data/detail/short_decimal.hpp"
#include "sotto/data/number.hpp"

namespace sotto {

std::span<const double> Table::dense(std::size_t row) const {
  const std::size_t n = encoder_->dense_positions().size();
  return std::span(dense_).subspan(row * n, n);
}
std::span<const std::uint32_t> Table::hot(std::size_t row) const {
  const std::size_t n = encoder_->hot_columns();
  return std::span(hot_).subspan(row * n, n);
}
void Table::row(std::size_t row, std::span<double> out) const {
  encoder_->expand(dense(row), hot(row), factors_[row], out);
}
void Table::row(std::size_t row, std::span<float> out) const {
  encoder_->expand(dense(row), hot(row), factors_[row], out);
}

std::vector<double> Table::matrix() const {
  std::vector<double> result(rows() * width());
  for (std::size_t i = 0; i < rows(); ++i) row(i, std::span(result).subspan(i * width(), width()));
  return result;
}

void Table::reserve(std::size_t rows) {
  dense_.reserve(rows * encoder_->dense_positions().size());
  hot_.reserve(rows * encoder_->hot_columns());
  factors_.reserve(rows);
  targets_.reserve(rows);
}

Table::Sink Table::add_row() {
  const std::size_t d = encoder_->dense_positions().size(), h = encoder_->hot_columns();
  dense_.resize(dense_.size() + d);
  // One coordinate of each one-hot column, also in a row that stays empty (a null record): models
  // look it up.
  const std::span<const std::uint32_t> first = encoder_->hot_positions();
  hot_.insert(hot_.end(), first.begin(), first.end());
  factors_.push_back(1);
  return {std::span(dense_).last(d), std::span(hot_).last(h), factors_.back()};
}

void Table::add_group(std::size_t g, std::uint32_t index) {
  if (g >= groups_.size()) groups_.resize(g + 1);
  groups_[g].push_back(index);
}

void Table::append(const Table& other, std::size_t first, std::size_t count) {
  const auto join = [&](auto& to, const auto& from, std::size_t per_row) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * per_row);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * per_row));
  };
  join(dense_, other.dense_, encoder_->dense_positions().size());
  join(hot_, other.hot_, encoder_->hot_columns());
  join(factors_, other.factors_, 1);
  if (!other.targets_.empty()) join(targets_, other.targets_, 1);
  if (groups_.size() < other.groups_.size()) groups_.resize(other.groups_.size());
  for (std::size_t g = 0; g < other.groups_.size(); ++g) join(groups_[g], other.groups_[g], 1);
  if (!other.ids_.empty()) join(ids_, other.ids_, 1);
}

namespace {

// Which field of a record feeds which part of the encoder.
class RecordEncoder {
 public:
  RecordEncoder(const CsvReader& reader, const Encoder& encoder, const TableOptions& options)
      : encoder_(&encoder), groups_(encoder.groups()), commas_(reader.decimal_comma()) {
    for (const Encoder::Input& input : encoder.inputs()) {
      add(reader, input.column.name, features_);
      numeric_.push_back(input.column.type == ColumnType::numeric);
      if (input.takes_numbers() && input.count == 1)
        plain_.push_back(&encoder.features()[input.first]);
    }
    const auto& marks = encoder.schema().missing_values;
    as_written_ = !commas_ && std::none_of(marks.begin(), marks.end(), [](const std::string& mark) {
      return parse_number(mark).kind == CellKind::number;
    });
    if (plain_.size() < features_.size() || encoder.schema().feature_norm || !as_written_)
      plain_.clear();
    if (options.targets && encoder.has_target()) {
      add(reader, encoder.target().column().name, target_);
    }
    for (const std::string& name : options.extra_groups) groups_.push_back(encoder.group(name));
    for (const ColumnEncoder& g : groups_) add(reader, g.column().name, group_fields_);
    const Schema& schema = encoder.schema();
    // Predictions are not bounded: nothing is released about the rows that get them.
    if (schema.unit == Unit::user && options.targets) add(reader, schema.user()->name, user_);
    if (!options.id.empty()) add(reader, options.id, id_);
    if (schema.relation == Relation::zero_out && options.targets) {
      const auto watch = [&](const ColumnEncoder& column, std::size_t field) {
        nullable_.emplace_back(column, field);
      };
      for (std::size_t i = 0; i < features_.size(); ++i) watch(encoder.teller(i), features_[i]);
      for (const std::size_t field : target_) watch(encoder.target(), field);
      for (std::size_t g = 0; g < groups_.size(); ++g) watch(groups_[g], group_fields_[g]);
    }
    for (const ColumnEncoder* column : plain_) {
      const ColumnSchema& c = column->column();
      const bool other = column->is_categorical() && !c.category.hashes() &&
                         c.missing == Missing::other && nullable_.empty();
      others_.push_back(other ? std::optional(static_cast<std::uint32_t>(c.values.size()))
                              : std::nullopt);
    }
    std::vector<detail::NumberScale> scales;
    for (const ColumnEncoder* column : plain_) {
      if (!column->is_numeric() || column->is_hashed()) continue;
      if (const detail::NumberScale scale(*column->column().bounds); scale.per_half_width != 0)
        scales.push_back(scale);
    }
    if (!plain_.empty() && scales.size() == plain_.size())
      numbers_.emplace(features_, scales, schema.scaling == Scaling::unit);
  }

  bool has_user() const { return !user_.empty(); }

  // Encodes the records of a block; `users`, when given, gets each record's user.
  Table operator()(CsvRecords& records, std::vector<std::string>* users) const {
    Table table(*encoder_);
    const std::size_t usual = usual_rows_.load(std::memory_order_relaxed);  // blocks are much alike
    table.reserve(usual + usual / 16);
    std::vector<CsvField> fields;
    std::vector<std::string_view> cells(features_.size());
    std::vector<std::string> scratch(features_.size() + 1);
    while (records.next(fields)) {
      std::size_t at = 0;  // the file's column at work, for errors
      try {
        const Table::Sink sink = table.add_row();
        bool null = false;
        if (!encode_plain(fields, sink)) {
          for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i] = text_of(numeric_[i], fields[features_[i]], scratch[i]);
          }
          null = is_null(fields, scratch.back());
          if (null) sink.factor = std::numeric_limits<double>::quiet_NaN();
          std::size_t column = 0;
          try {
            if (!null) sink.factor = encoder_->encode(cells, sink.dense, sink.hot, column);
          } catch (const CellRefused&) {
            at = features_[column];
            throw;
          }
        }
        for (const std::size_t target : target_) {
          at = target;
          table.add_target(null ? 0 : target_of(fields[target], scratch.back()));
        }
        for (std::size_t g = 0; g < group_fields_.size(); ++g) {
          at = group_fields_[g];
          table.add_group(g, null ? 0 : groups_[g].index(fields[at].text(scratch.back())));
        }
        for (const std::size_t user : user_) {
          at = user;
          const std::string_view id = fields[user].text(scratch.back());
          if (id.empty()) throw CellRefused{"the cell is empty", "every record needs its user"};
          if (users) users->emplace_back(id);
        }
        for (const std::size_t id : id_) table.add_id(fields[id].text(scratch.back()));
      } catch (const CellRefused& refused) {
        records.refuse(at, refused.what, refused.hint);
      }
    }
    usual_rows_.store(table.rows(), std::memory_order_relaxed);
    return table;
  }

 private:
  // A record of short decimal numbers and declared values and nothing else, which is most of them:
  // as encode() does it, without a detour by texts. Such a record is not null. False: not all of
  // them are. Fields lie in a block with room behind it (csv_record.hpp).
  bool encode_plain(const std::vector<CsvField>& fields, const Table::Sink& sink) const {
    static_assert(CsvCursor::kPadding >= detail::kShortDecimalBytes);
    if (plain_.empty()) return false;
    if (numbers_) return numbers_->read(fields, sink.dense);
    const std::span<const std::uint32_t> runs = encoder_->hot_positions();
    std::size_t next_dense = 0, next_hot = 0;
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      const CsvField& field = fields[features_[i]];
      const ColumnEncoder& column = *plain_[i];
      if (column.is_numeric()) {
        double number = 0;
        if (!detail::short_decimal(field.raw.data(), field.raw.size(), number)) return false;
        sink.dense[next_dense++] = column.value(number);
        continue;
      }
      auto found = column.declared(field.raw);
      if (!found) found = others_[i];
      if (!found || field.escaped) return false;
      if (column.is_categorical()) {
        sink.hot[next_hot] = runs[next_hot] + *found;
        ++next_hot;
      } else {
        sink.dense[next_dense++] = *found;
      }
    }
    return true;
  }
  double target_of(const CsvField& field, std::string& scratch) const {
    const ColumnEncoder& target = encoder_->target();
    double number = 0;
    if (!target.is_numeric()) {
      if (const auto found = target.declared(field.raw); found && !field.escaped) return *found;
    } else if (as_written_ && detail::short_decimal(field.raw.data(), field.raw.size(), number)) {
      return target.value(number);
    }
    return encoder_->encode_target(text_of(target.is_numeric(), field, scratch));
  }
  // The cell as its column reads it: numbers with a point.
  std::string_view text_of(bool numeric, const CsvField& field, std::string& scratch) const {
    return commas_ && numeric ? with_point(field.raw, scratch) : field.text(scratch);
  }
  bool is_null(const std::vector<CsvField>& fields, std::string& scratch) const {
    return !nullable_.empty() &&
           std::all_of(nullable_.begin(), nullable_.end(), [&](const auto& c) {
             const bool numeric = c.first.column().type == ColumnType::numeric;
             return c.first.is_missing(text_of(numeric, fields[c.second], scratch));
           });
  }
  static void add(const CsvReader& reader, const std::string& name, std::vector<std::size_t>& to) {
    to.push_back(reader.column(name));
  }
  const Encoder* encoder_;
  std::vector<ColumnEncoder> groups_;
  std::vector<std::size_t> features_, target_, group_fields_, user_,
      id_;  // the last and target_: none or one
  std::vector<std::pair<ColumnEncoder, std::size_t>>
      nullable_;  // the columns read with their fields, where null records have a meaning
  std::vector<bool> numeric_;                // which features are numbers
  std::vector<const ColumnEncoder*> plain_;  // the features' columns, unless their cells say more
  std::vector<std::optional<std::uint32_t>> others_;  // what they make of any undeclared value
  std::optional<detail::RecordNumbers> numbers_;      // all features, where all are numbers
  bool commas_;                                       // in numbers
  bool as_written_ = false;  // a number is that number: no comma, and none means missing
  mutable std::atomic<std::size_t> usual_rows_ = 0;
};

std::uint64_t hash_of(const Table& table, std::size_t row) {
  std::vector<std::uint64_t> words;
  for (const double v : table.dense(row)) words.push_back(std::bit_cast<std::uint64_t>(v));
  for (const std::uint32_t v : table.hot(row)) words.push_back(v);
  if (!table.targets().empty()) words.push_back(std::bit_cast<std::uint64_t>(table.targets()[row]));
  for (std::size_t g = 0; g < table.group_columns(); ++g) words.push_back(table.groups(g)[row]);
  words.push_back(table.is_null(row) ? 1 : 0);
  return content_hash(words);
}

CsvReader open_table(const std::string& path, const Encoder& encoder, const TableOptions& options,
                     const std::shared_ptr<const ArrayText>& array) {
  CsvOptions csv = options.csv;
  const auto names = [&] { return encoder.schema().names(); };
  if (array) {
    csv.header = false;
    csv.names = array_names(*array, encoder, options);
    return CsvReader::from_source(
        path, [array] { return array->text(); }, csv);
  }
  if (!csv.header && csv.names.empty()) csv.names = names();
  // Which records of a user are kept is decided in a first pass over the rows and done in a second.
  csv.repeatable = encoder.schema().unit == Unit::user && options.targets;
  return CsvReader(path, csv);
}

// Where the relation makes the number of rows public, it must be the declared one.
void check_rows(const std::string& label, const Encoder& encoder, const TableOptions& options,
                std::uint64_t rows) {
  const Schema& schema = encoder.schema();
  const bool exact = count_is_public(schema.relation) && options.targets;
  if (!exact || !schema.rows || rows == *schema.rows) return;
  throw DataError(fmt::format("{} has {} rows; the schema declares {}", label, rows, *schema.rows),
                  "under this relation the number of rows is public and must be right");
}

std::vector<bool> bounded_rows(CsvReader& reader, const RecordEncoder& encode,
                               std::uint64_t limit) {
  struct Part {
    std::vector<std::string> users;
    std::vector<std::uint64_t> hashes;
  };
  ContributionBound bound(limit);
  reader.map_blocks<Part>(
      [&](CsvRecords& records) {
        Part part;
        const Table table = encode(records, &part.users);
        for (std::size_t i = 0; i < table.rows(); ++i) part.hashes.push_back(hash_of(table, i));
        return part;
      },
      [&](Part&& part, std::uint64_t) {
        for (std::size_t i = 0; i < part.users.size(); ++i)
          bound.add(part.users[i], part.hashes[i]);
      });
  return bound.kept();
}

}  // namespace

void detail::map_parts(const std::string& path, const Encoder& encoder, const TableOptions& options,
                       const std::function<AnyResult(Table&&)>& map,
                       const std::function<void(AnyResult&&)>& consume) {
  const auto array = ArrayText::open(path);
  if (array && all_numbers(encoder, options)) {
    const std::uint64_t found = map_array(*array, path, encoder, options, map, consume);
    check_rows(path, encoder, options, found);
    return;
  }
  CsvReader reader = open_table(path, encoder, options, array);
  const RecordEncoder encode(reader, encoder, options);
  const Schema& schema = encoder.schema();
  std::uint64_t rows = 0;
  if (encode.has_user()) {
    const std::vector<bool> kept = bounded_rows(reader, encode, schema.max_contributions);
    reader.map_blocks<Table>([&](CsvRecords& records) { return encode(records, nullptr); },
                             [&](Table&& part, std::uint64_t first_row) {
                               Table bounded(encoder);
                               for (std::size_t i = 0; i < part.rows(); ++i) {
                                 // A file that grew between the passes: what was not seen is not
                                 // kept.
                                 const std::uint64_t row = first_row - 1 + i;
                                 if (row < kept.size() && kept[row]) bounded.append(part, i, 1);
                               }
                               consume(map(std::move(bounded)));
                             });
    return;
  }
  using Counted = std::pair<std::uint64_t, AnyResult>;
  reader.map_blocks<Counted>(
      [&](CsvRecords& records) {
        Table part = encode(records, nullptr);
        const std::uint64_t count = part.rows();
        return Counted{count, map(std::move(part))};
      },
      [&](Counted&& part, std::uint64_t) {
        rows += part.first;
        consume(std::move(part.second));
      });
  check_rows(reader.label(), encoder, options, rows);
}

namespace {

// The encoded rows of each part of the file, in order, on the calling thread.
void for_each_part(const std::string& path, const Encoder& encoder, const TableOptions& options,
                   const std::function<void(const Table&)>& visit) {
  detail::map_parts(
      path, encoder, options,
      [](Table&& part) -> detail::AnyResult { return std::make_shared<Table>(std::move(part)); },
      [&](detail::AnyResult&& part) { visit(*static_cast<const Table*>(part.get())); });
}

}  // namespace

Table load_table(const std::string& path, const Encoder& encoder, const TableOptions& options) {
  Table table(encoder);
  for_each_part(path, encoder, options, [&](const Table& part) { table.append(part); });
  return table;
}

void for_each_block(const std::string& path, const Encoder& encoder, std::size_t block_rows,
                    const std::function<void(const Table&)>& visit, const TableOptions& options) {
  if (block_rows == 0) throw InvalidArgument("block_rows is 0; it must be at least 1");
  Table block(encoder);
  for_each_part(path, encoder, options, [&](const Table& part) {
    for (std::size_t done = 0; done < part.rows();) {
      const std::size_t count = std::min(part.rows() - done, block_rows - block.rows());
      block.append(part, done, count);
      done += count;
      if (block.rows() < block_rows) continue;
      visit(block);
      block = Table(encoder);
    }
  });
  if (block.rows() > 0) visit(block);
}

}  // namespace sotto
