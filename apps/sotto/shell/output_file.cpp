#include "shell/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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

// A command writes few files at a time; for a signal handler, which can only read and unlink.
std::array<std::atomic<const char*>, 8> unfinished{};

void remember(const char* name) {
  for (auto& place : unfinished) {
    const char* none = nullptr;
    if (place.compare_exchange_strong(none, name)) return;
  }
}

void forget(const char* name) {
  for (auto& place : unfinished) {
    const char* known = name;
    if (place.compare_exchange_strong(known, nullptr)) return;
  }
}

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

OutputFile::OutputFile(std::string path, Readers readers, std::size_t room)
    : path_(std::move(path)), readers_(readers) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  temporary_ = path_ + ".XXXXXX";
  // Before it exists: a signal that comes right after mkostemp must find its name.
  remember(temporary_.c_str());
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int reason = errno;
    forget(temporary_.c_str());
    fail(reason);
  }
  int reason = EINTR;
  while (reason == EINTR) reason = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(room));
  if (reason != 0) {
    discard();
    fail(reason);
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  descriptor_sink(descriptor_, fmt::format("'{}'", path_))(bytes);
  written_ += bytes.size();
}

void OutputFile::publish() {
  if (!temporary_.empty()) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, (readers_ == Readers::owner ? 0600 : 0666) & ~mask) != 0 ||
        ::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0 || ::fsync(descriptor_) != 0)
      fail(errno);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    forget(temporary_.c_str());
    temporary_.clear();
    sync_directory_of(path_);
  }
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(errno);
}

void OutputFile::fail(int reason) const {
  throw StorageError(
      fmt::format("cannot write '{}': {}", path_, std::strerror(reason)),
      reason == ENOSPC || reason == EDQUOT ? "free some space or write elsewhere" : "");
}

void write_file(const std::string& path, std::string_view content, Readers readers) {
  OutputFile file(path, readers);
  file.write(content);
  file.publish();
}

// The room is asked for behind the end of the file and given back at once.
void check_standard_output() {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto room = static_cast<off_t>(OutputFile::kRoom);
  if (::fallocate(STDOUT_FILENO, FALLOC_FL_KEEP_SIZE, status.st_size, room) == 0) {
    ::fallocate(STDOUT_FILENO, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, status.st_size, room);
  } else if (errno == ENOSPC || errno == EDQUOT) {
    throw StorageError(fmt::format("cannot write to standard output: {}", std::strerror(errno)),
                       "free some space or write elsewhere");
  }
}

void remove_unfinished_files() {
  for (const auto& place : unfinished) {
    if (const char* name = place.load()) ::unlink(name);
  }
}

}  // namespace sotto::cli
