// Files that exist whole or not at all: written beside their final name, synced, then renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto::cli {

// Who may read a file: everybody whom the umask lets, or its owner alone (what is as private as the
// records).
enum class Readers { as_usual, owner };

// Until publish() the target is untouched; without it, or after an error, nothing is left behind.
// There is room for `room` bytes from the beginning, so a full disk or a used-up quota is found
// before anything is computed or paid for. A target that is no regular file (a device, a pipe)
// cannot be replaced and is written directly.
class OutputFile {
 public:
  static constexpr std::size_t kRoom = 1 << 16;
  explicit OutputFile(std::string path, Readers readers = Readers::as_usual,
                      std::size_t room = kRoom);  // throws StorageError
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);  // throws StorageError
  void publish();                      // throws StorageError

 private:
  [[noreturn]] void fail(int reason) const;
  void discard();

  std::string path_, temporary_;  // temporary_ is empty when the target is written directly
  Readers readers_;
  int descriptor_ = -1;
  std::size_t written_ = 0;
};

// Whether standard output, where it is a regular file, has room for a result. Throws StorageError.
void check_standard_output();

// The whole content at once.
void write_file(const std::string& path, std::string_view content,
                Readers readers = Readers::as_usual);

// Removes the temporary files of writes under way. Safe to call from a signal handler.
void remove_unfinished_files();

}  // namespace sotto::cli
