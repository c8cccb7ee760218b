#include "sotto/data/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/read_witness.hpp"
#include "sotto/data/source_error.hpp"

namespace sotto {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path) : path_(std::move(path)) {
    if (path_ == "-") {
      descriptor_ = STDIN_FILENO;
      return;
    }
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      throw SourceError(fmt::format("{} cannot be opened: {}", path_, std::strerror(errno)),
                        "check the path and the permissions");
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(descriptor_);
      throw SourceError(fmt::format("{} is a directory, not a file", path_));
    }
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t n = ::read(descriptor_, out.data() + filled, out.size() - filled);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("cannot be read");
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    return filled;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw DataError(fmt::format("{} {}: {}", path_, what, std::strerror(errno)),
                    "check the path and the permissions");
  }
  std::string path_;
  int descriptor_ = -1;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), bytes_.size());
    std::copy_n(bytes_.begin(), n, out.begin());
    bytes_ = bytes_.subspan(n);
    return n;
  }

 private:
  std::span<const char> bytes_;
};

// Gives back the bytes that were read to recognise the format.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> rest, std::string head)
      : rest_(std::move(rest)), head_(std::move(head)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), head_.size());
    std::copy_n(head_.begin(), n, out.begin());
    head_.erase(0, n);
    return n + rest_->read(out.subspan(n));
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string head_;
};

// gzip, one or more members.
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::string label)
      : packed_(std::move(packed)), label_(std::move(label)), buffer_(kBuffer) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (stream_.avail_in == 0) refill();
      if (stream_.avail_in == 0 && between_members_) break;
      const auto room = static_cast<uInt>(std::min<std::size_t>(out.size() - filled, 1U << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      between_members_ = status == Z_STREAM_END;
      if (between_members_) {
        inflateReset(&stream_);
      } else if (status == Z_BUF_ERROR) {  // no progress: there was room, so input is what lacks
        if (stream_.avail_in == 0 && packed_ended_) damaged("ends too early");
      } else if (status != Z_OK) {
        damaged("is damaged");
      }
    }
    return filled;
  }

 private:
  void refill() {
    const std::size_t n = packed_->read(buffer_);
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(n);
    packed_ended_ = n < buffer_.size();
  }
  [[noreturn]] void damaged(const char* what) const {
    throw DataError(fmt::format("{}: the gzip stream {}", label_, what),
                    "fetch or compress the file again");
  }

  static constexpr std::size_t kBuffer = 1U << 18;
  std::unique_ptr<ByteSource> packed_;
  std::string label_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool between_members_ = false, packed_ended_ = false;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source, const std::string& label) {
  std::array<char, 2> head{};
  const std::size_t n = source->read(head);
  source = std::make_unique<PeekedSource>(std::move(source), std::string(head.data(), n));
  const bool gzip = n == 2 && head[0] == '\x1f' && head[1] == '\x8b';
  if (!gzip) return source;
  return std::make_unique<GzipSource>(std::move(source), label);
}

}  // namespace

std::unique_ptr<ByteSource> open_unwatched(const std::string& path) {
  return unpacked(std::make_unique<FileSource>(path), path);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return ReadWitness::watched(open_unwatched(path), path);
}

std::unique_ptr<ByteSource> bytes_of(std::span<const char> bytes, const std::string& label) {
  return unpacked(std::make_unique<MemorySource>(bytes), label);
}

std::string read_all(const std::string& path, std::size_t limit) {
  const auto source = open_bytes(path);
  constexpr std::size_t kStep = 1U << 20;
  std::string content;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + std::min(kStep, limit - before + 1));
    const std::size_t n = source->read(std::span(content).subspan(before));
    const bool ended = before + n < content.size();
    content.resize(before + n);
    if (content.size() > limit) {
      throw DataError(fmt::format("{} is longer than {} bytes", path, limit));
    }
    if (ended) return content;
  }
}

}  // namespace sotto
