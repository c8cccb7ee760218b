// `--method auto`: the route to privacy, chosen by public facts only.
//
// What       choose_method(facts): a method and the reason in words.
// Guarantee  The choice costs nothing: no fact is read from private data.
// Method     Regression with a δ or ρ → gradients; sufficient statistics where records are so many
//            that the noise of moments is nothing, for they need one pass; with a pure ε →
//            functional mechanism (gradient and sample_aggregate beyond kManyCoordinates);
//            classification → gradient with a δ or ρ, objective perturbation with a pure ε.
//            The noise of d² moments has a spectrum of about √d, and what it hides are directions
//            of d coordinates in the unit ball; gradients pay for the directions that they
//            follow only, and move the less the more noise there is. The thresholds are what
//            public tables showed (docs/math).
// Numerics   None: counts are compared.
// Reference  docs/math/linear-models.md.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/models/linear/linear_kind.hpp"

namespace sotto {

// Where a column stands in the encoded row: one number in [low, high], or a run of categories one
// of which is 1.
struct EncodedColumn {
  std::size_t first = 0, width = 1;
  double low = -1, high = 1;
  bool boolean = false;  // the number is 0 or 1
  std::size_t hats = 0;  // hat functions of the number that follow it; at most 4 of them are not 0

  std::size_t active() const { return 1 + (hats > 0 ? 4 : 0); }  // coordinates other than 0
};

// What is known before any private byte is read.
struct PublicFacts {
  LinearKind kind = LinearKind::logistic;
  Relation relation = Relation::add_remove;
  std::uint64_t rows = 1;                   // declared
  std::size_t dimension = 1;                // of a row, with the intercept
  std::size_t outputs = 1;                  // 1: binary or regression; K: one per class
  std::uint64_t contributions = 1;          // records that one unit of privacy may have
  double norm_bound = 1;                    // of an encoded record, without the intercept
  std::vector<EncodedColumn> columns = {};  // without the intercept; width > 1: categories

  std::size_t without_hats() const {
    std::size_t count = dimension;
    for (const EncodedColumn& column : columns) count -= column.hats;
    return count;
  }
  // The logarithm to base 2 of how many different rows there can be, about: a thousand values of a
  // number.
  double row_bits() const {
    double bits = 0;
    for (const EncodedColumn& column : columns)
      bits += column.width > 1 ? std::log2(static_cast<double>(column.width))
              : column.boolean ? 1
                               : 10;
    return bits;
  }
  // How many coordinates of a row, with the intercept, can be other than 0.
  std::size_t active() const {
    if (columns.empty()) return dimension;
    std::size_t count = 1;
    for (const EncodedColumn& column : columns) count += column.active();
    return count;
  }
};

// Records for each unit of noise on one sum: rows·√(2ρ) over what a unit moves. Not for a pure ε.
double signal_of(std::uint64_t rows, Relation relation, std::uint64_t contributions,
                 const Budget& budget);
// Whether the noise of moments is too small to matter. dimension: of a row.
bool moments_are_sure(double signal, std::size_t dimension);
// Whether hats make a regression by gradients better. dimension: with them.
bool hats_pay(double signal, std::size_t dimension);

struct MethodChoice {
  std::string method;
  std::string reason;
};

MethodChoice choose_method(const PublicFacts& facts, const Budget& budget);

inline constexpr std::size_t kManyCoordinates = 3000;  // for second moments

}  // namespace sotto
