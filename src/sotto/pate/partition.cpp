#include "sotto/pate/partition.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto::pate {
namespace {

template <class T>
void put(std::string& bytes, const T& value) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), &value, sizeof(T));
  bytes.append(raw.data(), raw.size());
}

// Length first: no two identities have the same bytes.
void put_text(std::string& bytes, const std::string& text) {
  put(bytes, std::uint64_t{text.size()});
  bytes += text;
}

std::string identity(const Table& records, const Facts& facts, std::size_t row) {
  std::string bytes;
  if (facts.unit == Unit::user) {
    put_text(bytes, records.ids()[row]);
  } else if (facts.relation != Relation::add_remove) {
    put(bytes, static_cast<std::uint64_t>(row));
  } else {
    for (const double v : records.dense(row)) put(bytes, v == 0 ? 0.0 : v);
    for (const std::uint32_t v : records.hot(row)) put(bytes, v);
    put(bytes, records.factor(row));
    if (!records.targets().empty()) put(bytes, records.targets()[row]);
  }
  return bytes;
}

}  // namespace

std::string fresh_key(Rng& rng) {
  std::string key;
  for (int i = 0; i < 4; ++i) key += fmt::format("{:016x}", rng.next_u64());
  return key;
}

void check_partition(const Facts& facts) {
  if (facts.unit == Unit::user && facts.relation == Relation::replace_one)
    throw Unsupported("a user that is replaced leaves one teacher's part and enters another",
                      "declare relation = \"add_remove\" in the schema");
}

std::vector<std::vector<std::size_t>> partition(const Table& records, const Facts& facts,
                                                std::uint64_t parts, const std::string& key) {
  check_partition(facts);
  if (parts == 0) throw InvalidArgument("there is no teacher");
  if (facts.unit == Unit::user && records.ids().size() != records.rows())
    throw InvalidArgument("users are the unit of privacy, and the records do not name them");
  std::vector<std::uint64_t> part(records.rows());
  constexpr std::size_t kBlock = 1024;
  parallel_blocks((records.rows() + kBlock - 1) / kBlock, 0, [&](std::size_t b, unsigned) {
    const std::size_t end = std::min(records.rows(), (b + 1) * kBlock);
    for (std::size_t row = b * kBlock; row < end; ++row)
      part[row] =
          std::stoull(sha256(key + identity(records, facts, row)).substr(0, 16), nullptr, 16) %
          parts;
  });
  std::vector<std::vector<std::size_t>> rows(parts);
  for (std::size_t row = 0; row < part.size(); ++row)
    if (!records.is_null(row)) rows[part[row]].push_back(row);
  return rows;
}

Table rows_of(const Table& table, std::span<const std::size_t> rows) {
  Table part(table.encoder());
  part.reserve(rows.size());
  for (const std::size_t row : rows) part.append(table, row, 1);
  return part;
}

}  // namespace sotto::pate
