// Files that exist whole or not at all: written beside their final name, synced, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace sotto::cli {

// Who may read a file: everybody whom the umask lets, or its owner alone (what is as private as the
// records).
enum class Readers { as_usual, owner };

// Until publish() the target is untouched; without it, or after an error, nothing is left behind.
// A target that is no regular file (a device, a pipe) cannot be replaced and is written directly.
class OutputFile {
 public:
  explicit OutputFile(std::string path,
                      Readers readers = Readers::as_usual);  // throws StorageError
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);  // throws StorageError
  void publish();                      // throws StorageError

 private:
  [[noreturn]] void fail(int reason) const;

  std::string path_, temporary_;  // temporary_ is empty when the target is written directly
  Readers readers_;
  int descriptor_ = -1;
};

// The whole content at once.
void write_file(const std::string& path, std::string_view content,
                Readers readers = Readers::as_usual);

// Removes the temporary file of a write under way. Safe to call from a signal handler.
void remove_unfinished_file();

}  // namespace sotto::cli
