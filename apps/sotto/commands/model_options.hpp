// Options that the commands on models share: where the data and the schema are, the budget.
#pragma once

#include "commands.hpp"
#include "sotto/accounting/bound.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/table.hpp"

namespace sotto::cli {

// Certificates are computed, and checked again, to this precision.
inline const AccountOptions kCertificateAccounting = {.tolerance = 1e-5};

std::vector<Option> training_data_options();  // --data, --schema, --target, --no-header
std::vector<Option> budget_options();         // --epsilon, --delta, --rho

Schema schema_of(const Arguments& arguments);    // --schema with --target; throws DataError
Encoder encoder_of(const Arguments& arguments);  // throws DataError
TableOptions table_options(const Arguments& arguments);

}  // namespace sotto::cli
