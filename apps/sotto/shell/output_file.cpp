#include "shell/output_file.hpp"

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

#include "shell/output.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

std::atomic<const char*> unfinished{nullptr};  // one file at a time is written by a command

// Makes a new name itself durable. Some file systems cannot sync a directory; the file is whole
// either way.
void sync_directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace

OutputFile::OutputFile(std::string path, Readers readers)
    : path_(std::move(path)), readers_(readers) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  unfinished = temporary_.c_str();
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  unfinished = nullptr;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  descriptor_sink(descriptor_, fmt::format("'{}'", path_))(bytes);
}

void OutputFile::publish() {
  if (!temporary_.empty()) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, (readers_ == Readers::owner ? 0600 : 0666) & ~mask) != 0 ||
        ::fsync(descriptor_) != 0)
      fail(errno);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    unfinished = nullptr;
    sync_directory_of(path_);
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(errno);
}

void OutputFile::fail(int reason) const {
  throw StorageError(fmt::format("cannot write '{}': {}", path_, std::strerror(reason)),
                     reason == ENOSPC ? "free some space or write elsewhere" : "");
}

void write_file(const std::string& path, std::string_view content, Readers readers) {
  OutputFile file(path, readers);
  file.write(content);
  file.publish();
}

void remove_unfinished_file() {
  if (const char* name = unfinished.load()) ::unlink(name);
}

}  // namespace sotto::cli
