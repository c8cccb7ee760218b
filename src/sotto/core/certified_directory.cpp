#include "sotto/core/certified_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sotto/core/certificate_signature.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/whole_file.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path) {
  throw StorageError(fmt::format("cannot write '{}': {}", path.string(), std::strerror(errno)),
                     "check the disk and the permissions; nothing was left behind");
}

// Durable before it is visible: the data must be on disk before the directory gets its final name.
void write_durably(const fs::path& path, const std::string& text, mode_t mode = 0644) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) cannot_write(path);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      close(file);
      errno = reason;
      cannot_write(path);
    }
    done += static_cast<std::size_t>(n);
  }
  if (fsync(file) != 0 || close(file) != 0) cannot_write(path);
}

void sync_directory(const fs::path& path) {
  const int directory = open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

// Whoever hands over a directory chooses what is in it, also how much.
constexpr std::size_t kMostFiles = 100, kMostBytes = std::size_t{8} << 30;
constexpr std::size_t kMostSignatureBytes = 1 << 16;
constexpr const char* kHint = "is this the directory that 'sotto train' wrote?";

std::string read_text(const fs::path& path, std::size_t limit) {
  std::string text = read_whole_file(path.string(), limit, kHint);
  if (text.empty()) throw DataError(fmt::format("'{}' is empty", path.string()), kHint);
  return text;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c != '/' && static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
         });
}

// Removes the unfinished directory unless it was renamed to its place.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    fs::remove_all(path_, error);
    if (!fs::create_directories(path_, error) || error) {
      errno = error ? error.value() : EEXIST;
      cannot_write(path_);
    }
  }
  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path unfinished_at(const fs::path& place) {
  return place.parent_path() /
         fmt::format(".{}.unfinished-{}", place.filename().string(), getpid());
}

fs::path trimmed(const std::string& directory) {
  fs::path path = fs::path(directory).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

void check_artifact_place(const std::string& directory, std::size_t bytes) {
  const fs::path place = trimmed(directory);
  std::error_code error;
  if (place.empty()) throw InvalidArgument("the artifact needs the name of a directory");
  if (fs::exists(place, error) && !(fs::is_directory(place, error) && fs::is_empty(place, error))) {
    throw InvalidArgument(fmt::format("'{}' exists and is not an empty directory", directory),
                          "choose another place for the artifact, or remove it first");
  }
  // A medium that cannot be written, or has no room left, is found now and not when the budget is
  // spent.
  const Unfinished trial(unfinished_at(place));
  const fs::path file = trial.path() / "trial";
  write_durably(file, "trial");
  int reason = EINTR;
  if (const int room = open(file.c_str(), O_WRONLY | O_CLOEXEC); room >= 0) {
    while (reason == EINTR) reason = posix_fallocate(room, 0, static_cast<off_t>(bytes));
    close(room);
  } else {
    reason = errno;
  }
  if (errno = reason; reason != 0) cannot_write(place);
}

std::map<std::string, std::string> digests_of(const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> digests;
  for (const auto& [name, bytes] : files) digests[name] = sha256(bytes);
  return digests;
}

std::string result_digest(const std::map<std::string, std::string>& digests) {
  return sha256(nlohmann::json(digests).dump());
}

void write_certified(const std::string& directory, const std::map<std::string, std::string>& files,
                     Certificate certificate, const std::string& signing_key) {
  std::size_t size = 1;
  for (const auto& [name, content] : files) size += content.size();
  check_artifact_place(directory, size);
  const fs::path place = trimmed(directory);
  Unfinished unfinished(unfinished_at(place));
  certificate.files = digests_of(files);
  for (const auto& [name, bytes] : files) write_durably(unfinished.path() / name, bytes);
  const std::string text = to_json(certificate).dump(2) + "\n";
  write_durably(unfinished.path() / "certificate.json", text);
  if (!signing_key.empty())
    write_durably(unfinished.path() / "certificate.sig", certificate_signature(text, signing_key));
  sync_directory(unfinished.path());
  if (std::rename(unfinished.path().c_str(), place.c_str()) != 0) cannot_write(place);
  sync_directory(place.parent_path());
}

CertificateText read_certificate_text(const std::string& place) {
  std::error_code error;
  if (!fs::is_directory(place, error)) {
    const fs::path beside = place + ".sig";
    return {read_text(place, kMostCertificateBytes),
            fs::exists(beside) ? read_text(beside, kMostSignatureBytes) : std::string()};
  }
  const fs::path directory(place), signature = directory / "certificate.sig";
  return {read_text(directory / "certificate.json", kMostCertificateBytes),
          fs::exists(signature) ? read_text(signature, kMostSignatureBytes) : std::string()};
}

CertifiedDirectory read_certified(const std::string& directory) {
  return read_certified(directory,
                        read_text(fs::path(directory) / "certificate.json", kMostCertificateBytes));
}

CertifiedDirectory read_certified(const std::string& directory, const std::string& certificate) {
  const fs::path place(directory);
  CertifiedDirectory result;
  result.certificate = certificate_from_json(
      parse_json(certificate, fmt::format("'{}'", (place / "certificate.json").string())));
  const std::size_t count = result.certificate.files.size();
  if (count == 0 || count > kMostFiles)
    throw DataError(fmt::format("the certificate in '{}' names {} files; it must name 1 to {}",
                                directory, count, kMostFiles));
  std::size_t room = kMostBytes;
  for (const auto& [name, digest] : result.certificate.files) {
    if (!is_plain_name(name))
      throw DataError(
          fmt::format("the certificate in '{}' names a file outside the directory", directory));
    std::string bytes = read_text(place / name, room);
    room -= bytes.size();
    if (sha256(bytes) != digest) {
      throw VerificationFailed(
          fmt::format("'{}' is not the file that was certified", (place / name).string()),
          "restore the artifact from where it was copied");
    }
    result.files.emplace(name, std::move(bytes));
  }
  return result;
}

void replace_secret(const std::string& path, const std::string& content) {
  const fs::path place(path);
  const fs::path beside =
      place.parent_path() / fmt::format(".{}.unfinished-{}", place.filename().string(), getpid());
  std::error_code ignored;
  fs::remove(beside, ignored);
  try {
    write_durably(beside, content, 0600);
    if (std::rename(beside.c_str(), place.c_str()) != 0) cannot_write(place);
  } catch (...) {
    fs::remove(beside, ignored);
    throw;
  }
  sync_directory(place.parent_path());
}

}  // namespace sotto
