// Records whose label follows the product of two columns: for tests of models that see
// interactions.
#pragma once

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sotto/data/table.hpp"

namespace sotto::crossed {

inline constexpr double kDelta = 1e-6;

inline Schema schema(const std::string& relation, const std::string& target, std::size_t rows) {
  return Schema::from_toml("relation = \"" + relation + "\"\nrows = " + std::to_string(rows) +
                           "\n[columns.a]\ntype = \"numeric\"\nbounds = [-1, 1]\n"
                           "[columns.b]\ntype = \"numeric\"\nbounds = [-1, 1]\n"
                           "[columns.c]\ntype = \"categorical\"\nvalues = [\"u\", \"v\", \"w\"]\n"
                           "[columns.d]\ntype = \"boolean\"\n[columns.y]\nrole = \"target\"\n" +
                           target);
}

inline const std::string kTwo = "type = \"boolean\"\n";
inline const std::string kThree = "type = \"categorical\"\nvalues = [\"0\", \"1\", \"2\"]\n";
inline const std::string kNumber = "type = \"numeric\"\nbounds = [-1, 1]\n";

struct Record {
  double a, b;
  std::string c, d, y;
};

// The label follows the product of a and b, which no additive model can see, and c.
inline std::vector<Record> records(std::size_t n, const std::string& target, unsigned seed = 1) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Record> all;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = uniform(rng), b = uniform(rng);
    const std::size_t c = rng() % 3;
    const double f = 2 * a * b + 0.3 * (static_cast<double>(c) - 1);
    std::string y = target == kTwo     ? (f > 0 ? "true" : "false")
                    : target == kThree ? (f > 0.25    ? "2"
                                          : f > -0.25 ? "1"
                                                      : "0")
                                       : std::to_string(0.4 * f);
    all.push_back({a, b, std::string(1, "uvw"[c]), rng() % 2 ? "true" : "false", std::move(y)});
  }
  return all;
}

inline Table table_of(const std::vector<Record>& all, const Encoder& encoder) {
  Table table(encoder);
  for (const Record& r : all) {
    const std::string a = std::to_string(r.a), b = std::to_string(r.b);
    const std::vector<std::string_view> cells = {a, b, r.c, r.d};
    Table::Sink sink = table.add_row();
    std::size_t column = 0;
    sink.factor = encoder.encode(cells, sink.dense, sink.hot, column);
    table.add_target(encoder.encode_target(r.y));
  }
  return table;
}

// Adds a record whose cells are all missing, as a file would under zero_out.
inline void add_null(Table& table) {
  table.add_row().factor = std::numeric_limits<double>::quiet_NaN();
  table.add_target(0);
}

}  // namespace sotto::crossed
