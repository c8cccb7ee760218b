#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "output.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

std::atomic<const char*> unfinished{nullptr};

[[noreturn]] void fail(const std::string& path, int reason) {
  throw StorageError(fmt::format("cannot write '{}': {}", path, std::strerror(reason)),
                     reason == ENOSPC ? "free some space or write elsewhere" : "");
}

// A uniquely named file beside the target; removed again unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const std::string& path) : path_(path), name_(path + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) fail(path, errno);
    unfinished = name_.c_str();
  }
  ~Temporary() {
    unfinished = nullptr;
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::string_view content) {
    descriptor_sink(descriptor_, fmt::format("'{}'", path_))(content);
  }

  void publish() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, 0666 & ~mask) != 0 || ::fsync(descriptor_) != 0) fail(path_, errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || std::rename(name_.c_str(), path_.c_str()) != 0) fail(path_, errno);
    renamed_ = true;
    sync_directory();
  }

 private:
  // Makes the new name itself durable. Some file systems cannot sync a directory; the file is whole
  // either way.
  void sync_directory() const {
    const std::string parent = std::filesystem::path(path_).parent_path().string();
    const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
  }

  std::string path_, name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_file(const std::string& path, std::string_view content) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // A device or pipe cannot be replaced by a rename, and must not be.
    const int descriptor = ::open(path.c_str(), O_WRONLY);
    if (descriptor < 0) fail(path, errno);
    try {
      descriptor_sink(descriptor, fmt::format("'{}'", path))(content);
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    if (::close(descriptor) != 0) fail(path, errno);
    return;
  }
  Temporary file(path);
  file.write(content);
  file.publish();
}

void remove_unfinished_file() {
  if (const char* name = unfinished.load()) ::unlink(name);
}

}  // namespace sotto::cli
