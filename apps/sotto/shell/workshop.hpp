// Where runs of other commands find their data and leave what they make; gone at the end, however
// the end comes.
//
// Rows are files in memory without a name on any disk: when the process dies, by whatever signal,
// they are gone with it. What the runs write themselves lies in a directory that only its owner can
// enter; it is removed at the end, and by Ctrl-C, SIGTERM and SIGHUP (shell.cpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace sotto::cli {

class Workshop {
 public:
  Workshop() = default;
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  // A file with this text; under one name one path, whatever it holds. Throws StorageError.
  std::string write(const std::string& name, const std::string& text);
  // A name in the directory, for runs to write to. Throws StorageError.
  std::string place(const std::string& name);

 private:
  std::map<std::string, int> files_;  // descriptors
  std::filesystem::path directory_;   // empty: none was needed
};

// For the handler of a signal: removes the directory of the workshop that is open, with all in it.
// False: there was none.
bool remove_workshop() noexcept;

}  // namespace sotto::cli
