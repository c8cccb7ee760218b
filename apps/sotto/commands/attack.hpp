// What the attacks share. What they print is as private as the records: it says so itself.
#pragma once

#include "options/arguments.hpp"
#include "options/command.hpp"
#include "shell/context.hpp"

namespace sotto::cli {

Command attack_attribute_command();
Command attack_extraction_command();
Command attack_inversion_command();
Command attack_linkage_command();
Command attack_membership_command();
Command attack_reconstruction_command();

inline constexpr const char* kPrivateResult =
    "PRIVATE: AS SENSITIVE AS THE RECORDS, NOT FOR PUBLICATION";

// The directory that --out names, made if need be; nothing without the option.
void make_attack_place(const Arguments& arguments);
// --out DIR.
Option attack_out_option(const std::string& help);
// The generator of the call: --insecure-seed, or the machine's.
Rng attack_rng(const Arguments& arguments, Context& context);

}  // namespace sotto::cli
