// What the files of `sotto ledger` share.
#pragma once

#include "commands.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {

// --store, --dsn-file, SOTTO_LEDGER and --wait.
ledger::Ledger open_ledger(const Arguments& arguments, ledger::OpenMode mode);

void run_ledger_show(const Arguments& arguments, Context& context);

}  // namespace sotto::cli
