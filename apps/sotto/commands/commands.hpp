// The commands, one file each: a declaration for the table, with its run function inside.
#pragma once

#include <optional>

#include "options/arguments.hpp"
#include "options/command.hpp"
#include "shell/context.hpp"

namespace sotto::cli {

Command account_command();
Command audit_command();
Command bench_command();
Command calibrate_command();
Command completion_command();
Command docs_command();
Command evaluate_command();
Command help_command();
Command inspect_command();
Command key_command();
Command ledger_command();
Command local_command();
Command man_command();
Command noise_command();
Command predict_command();
Command release_command();
Command schema_command();
Command schema_check_command();
Command schema_draft_command();
Command sweep_command();
Command train_command();
Command verify_command();

void print_version(const Arguments& arguments, Context& context);

// Options that several commands share.
Option json_option();
Option output_option();
Option relation_option();
Option insecure_seed_option();
Option certificate_option();

inline constexpr const char* kInsecure = "INSECURE: NOT PRIVATE";
// The generator of --insecure-seed, with a warning; nothing when the option is not given.
std::optional<Rng> insecure_rng(const Arguments& arguments, Context& context);

}  // namespace sotto::cli
