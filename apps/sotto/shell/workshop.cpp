#include "shell/workshop.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

std::atomic<const char*> open_directory{nullptr};  // a command has one

// System calls only: a handler may neither allocate nor lock, so there is no opendir().
void empty_directory(int directory, int depth) noexcept {
  if (depth > 8) return;
  alignas(dirent64) char buffer[4096];
  for (bool removed = true; removed;) {  // what is removed shifts what is read next
    removed = false;
    ::lseek(directory, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::getdents64(directory, buffer, sizeof buffer)) > 0;) {
      for (ssize_t at = 0; at < got;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(buffer + at);
        at += entry->d_reclen;
        const char* const name = entry->d_name;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        if (::unlinkat(directory, name, 0) == 0) {
          removed = true;
          continue;
        }
        const int inner = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (inner < 0) continue;
        empty_directory(inner, depth + 1);
        ::close(inner);
        if (::unlinkat(directory, name, AT_REMOVEDIR) == 0) removed = true;
      }
    }
  }
}

}  // namespace

Workshop::~Workshop() {
  for (const auto& [name, descriptor] : files_) ::close(descriptor);
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  open_directory = nullptr;
}

std::string Workshop::write(const std::string& name, const std::string& text) {
  const auto failed = [] { return StorageError("there is no room for a file in memory"); };
  auto it = files_.find(name);
  if (it == files_.end()) {
    const int descriptor = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    if (descriptor < 0) throw failed();
    it = files_.emplace(name, descriptor).first;
  }
  const int file = it->second;
  if (::ftruncate(file, 0) != 0) throw failed();
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::pwrite(file, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw failed();
    at += static_cast<std::size_t>(n);
  }
  return "/proc/self/fd/" + std::to_string(file);
}

std::string Workshop::place(const std::string& name) {
  if (directory_.empty()) {
    std::string made = (std::filesystem::temp_directory_path() / "sotto-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) throw StorageError("cannot make a temporary directory");
    directory_ = made;
    open_directory = directory_.c_str();
  }
  return (directory_ / name).string();
}

bool remove_workshop() noexcept {
  const char* const path = open_directory.load();
  if (path == nullptr) return false;
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory >= 0) {
    empty_directory(directory, 0);
    ::close(directory);
  }
  return ::rmdir(path) == 0;
}

}  // namespace sotto::cli
