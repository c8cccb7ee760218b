#include "sotto/ledger/backend/head_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto::ledger {
namespace {

constexpr std::size_t kNumber = 19, kHash = 64;  // digits

std::string line_of(const Head& head) {
  const std::string said = fmt::format("{:0{}} {}", head.seq, kNumber, head.hash);
  return fmt::format("{} {}\n", said, sha256(said));
}

// Nothing unless the text is byte for byte what line_of() makes.
std::optional<Head> parse(const std::string& text) {
  if (text.size() != kNumber + 2 * (1 + kHash) + 1) return std::nullopt;
  Head head{0, text.substr(kNumber + 1, kHash)};
  std::from_chars(text.data(), text.data() + kNumber, head.seq);
  return line_of(head) == text ? std::optional(head) : std::nullopt;
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool valid() const { return number_ >= 0; }
  bool lock(int kind) const { return ::flock(number_, kind) == 0; }
  std::string content() const {
    std::array<char, 512> bytes{};  // more than a line, so that what is appended is noticed
    const ssize_t n = ::pread(number_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
  }
  void replace(const std::string& line) const {
    [[maybe_unused]] const ssize_t n = ::pwrite(number_, line.data(), line.size(), 0);
  }

 private:
  int number_;
};

}  // namespace

std::optional<Head> HeadFile::read() const {
  const Descriptor file(path_, O_RDONLY);
  if (!file.valid() || !file.lock(LOCK_SH)) return std::nullopt;
  const std::string text = file.content();
  if (text.empty()) return std::nullopt;  // made, and never written before the power went
  auto head = parse(text);
  if (!head)
    throw VerificationFailed(
        fmt::format("'{}' was changed or is damaged", path_),
        "verify the store against a head you pinned; then remove this file, it is made again");
  return head;
}

void HeadFile::advance(const Head& head) const noexcept {
  // What is committed stays committed: a witness that cannot be written is no reason to say
  // otherwise.
  try {
    const Descriptor file(path_, O_RDWR | O_CREAT);
    if (!file.valid() || !file.lock(LOCK_EX)) return;
    const std::string text = file.content();
    const auto known = parse(text);
    if (text.empty() || (known && known->seq < head.seq)) file.replace(line_of(head));
  } catch (...) {
  }
}

}  // namespace sotto::ledger
