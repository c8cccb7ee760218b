// The basis of numeric features, where a schema leaves it open: a public rule.
//
// What       Hats (hat_basis.hpp) where the response may bend along few numeric columns, the number
//            itself elsewhere.
// Guarantee  Costs nothing: counts of declared columns are compared.
// Method     With at most kFewColumns numeric features the response bends along them; with many a
//            plane will do, and the hats' share of the norm bound would only weaken it.
// Numerics   None.
// Reference  docs/math/linear-models.md.
#pragma once

#include <cstddef>

#include "sotto/data/schema.hpp"

namespace sotto {

inline constexpr std::size_t kFewColumns = 40;

// bends: the family is linear in the encoded features, and its response need not be.
Schema settle_basis(Schema schema, bool bends);

}  // namespace sotto
