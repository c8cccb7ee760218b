// Files that exist whole or not at all: written beside their final name, synced, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace sotto::cli {

// Throws StorageError; then nothing is left behind and an older file of that name is untouched.
void write_file(const std::string& path, std::string_view content);

// The temporary file of a write under way, for the signal handler to remove. Safe to call from a
// handler.
void remove_unfinished_file();

}  // namespace sotto::cli
