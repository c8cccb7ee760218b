// Records as another model has transformed them: a Source over a Source.
//
// What       mapped_schema(): what a transformation writes, declared as a table; the target stays.
//            mapped_block(): some records of it. mapped_source(): all of them, for a family that
//            knows nothing of what came before.
// Guarantee  None of its own. One record becomes one record, by released figures alone: neighbours
//            stay neighbours, and a unit has as many records as before. A null record stays null.
// Method     The columns of the transformation are encoded as any table's (data/encoder.hpp).
// Numerics   None.
// Reference  docs/adr/0013-pipelines.md.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/source.hpp"
#include "sotto/learning/unsupervised_model.hpp"

namespace sotto {

// Throws DataError when a column has neither labels nor bounds, or the name of the target.
Schema mapped_schema(const Schema& schema, const std::vector<OutputColumn>& columns);

// outer must outlive the table.
Table mapped_block(const Model& model, const Table& block, const Encoder& outer);

// All must outlive the source.
std::unique_ptr<Source> mapped_source(Source& inner, const Model& model, const Encoder& outer);

}  // namespace sotto
