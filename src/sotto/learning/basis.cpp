#include "sotto/learning/basis.hpp"

#include <algorithm>

namespace sotto {

Schema settle_basis(Schema schema, bool bends) {
  if (schema.basis != NumericBasis::automatic) return schema;
  const auto numeric =
      std::count_if(schema.columns.begin(), schema.columns.end(), [](const ColumnSchema& c) {
        return c.type == ColumnType::numeric && c.role == Role::feature;
      });
  const bool few = numeric > 0 && numeric <= static_cast<std::ptrdiff_t>(kFewColumns);
  schema.basis = few && bends ? NumericBasis::hats : NumericBasis::linear;
  return schema;
}

}  // namespace sotto
