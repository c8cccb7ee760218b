// A directory for what runs of other commands read and write, gone at the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sotto/core/error.hpp"

namespace sotto::cli {

class Workshop {
 public:
  explicit Workshop(const std::string& label) {
    std::string name = (std::filesystem::temp_directory_path() / (label + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) throw StorageError("cannot make a temporary directory");
    place_ = name;
  }
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(place_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string path(const std::string& name) const { return (place_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream file(path(name), std::ios::binary);
    file << text;
    if (!file.flush()) throw StorageError("cannot write to the temporary directory");
  }

 private:
  std::filesystem::path place_;
};

}  // namespace sotto::cli
