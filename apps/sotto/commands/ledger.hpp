// What the files of `sotto ledger` share.
#pragma once

#include "commands.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {

// --store, --dsn-file, SOTTO_LEDGER and --wait.
ledger::Ledger open_ledger(const Arguments& arguments, ledger::OpenMode mode);

// Of the options above.
ledger::StoreLocation ledger_location(const Arguments& arguments);

void print_receipt(const ledger::Receipt& receipt, const std::string& text,
                   const Arguments& arguments, Context& context);

// "spent, added up at delta = 2e-06, confidence 0.95: holds except with probability 0.0501"
std::string tally_text(const ledger::Tally& tally);

Command ledger_report_command(std::vector<Option> store_options);
Command ledger_statement_command(std::vector<Option> store_options);
Command ledger_export_command(std::vector<Option> store_options);
Command ledger_decision_command(const std::string& what, std::vector<Option> store_options);
Command ledger_roles_command(std::vector<Option> store_options);
void run_ledger_show(const Arguments& arguments, Context& context);

}  // namespace sotto::cli
