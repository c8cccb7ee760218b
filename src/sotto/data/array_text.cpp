#include "sotto/data/detail/array_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/idx.hpp"
#include "sotto/data/npy.hpp"

namespace sotto {
namespace {

constexpr std::string_view kNpy("\x93NUMPY", 6), kIdxBytes("\0\0\x08", 3);

// Numbers as text.
class Lines final : public ByteSource {
 public:
  Lines(std::unique_ptr<NumberSource> numbers, std::size_t columns)
      : numbers_(std::move(numbers)), record_(columns) {}

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (given_ == line_.size() && !next_line()) break;
      const std::size_t n = std::min(out.size() - filled, line_.size() - given_);
      std::copy_n(line_.data() + given_, n, out.data() + filled);
      given_ += n;
      filled += n;
    }
    return filled;
  }

 private:
  bool next_line() {
    line_.clear();
    given_ = 0;
    if (numbers_->read(record_) < record_.size()) return false;
    for (const double number : record_) fmt::format_to(std::back_inserter(line_), "{},", number);
    line_.back() = '\n';
    return true;
  }

  std::unique_ptr<NumberSource> numbers_;
  std::vector<double> record_;
  std::size_t given_ = 0;
  std::string line_;
};

std::size_t columns_of(const std::vector<std::size_t>& shape, const std::string& path) {
  const std::size_t columns = shape.empty() ? 0
                                            : std::accumulate(shape.begin() + 1, shape.end(),
                                                              std::size_t{1}, std::multiplies<>());
  if (columns == 0) {  // no record at all is a number of records like any
    throw DataError(fmt::format("{} holds no column", path),
                    "the first axis of the array counts the records");
  }
  return columns;
}

class NpyFile final : public ArrayText {
 public:
  explicit NpyFile(std::string path)
      : path_(std::move(path)), columns_(columns_of(NpyReader(path_).shape(), path_)) {}
  std::size_t columns() const override { return columns_; }
  std::unique_ptr<NumberSource> numbers() const override {
    struct Source final : NumberSource {
      explicit Source(const std::string& path) : reader(path) {}
      std::size_t read(std::span<double> out) override { return reader.read(out); }
      NpyReader reader;
    };
    return std::make_unique<Source>(path_);
  }

 private:
  std::string path_;
  std::size_t columns_;
};

class IdxFile final : public ArrayText {
 public:
  explicit IdxFile(const std::string& path)
      : array_(read_idx(path)), columns_(columns_of(array_.shape, path)) {}
  std::size_t columns() const override { return columns_; }
  std::unique_ptr<NumberSource> numbers() const override {
    struct Source final : NumberSource {
      explicit Source(const std::vector<std::uint8_t>& values) : left(values) {}
      std::size_t read(std::span<double> out) override {
        const std::size_t n = std::min(out.size(), left.size());
        std::copy_n(left.begin(), n, out.begin());
        left = left.subspan(n);
        return n;
      }
      std::span<const std::uint8_t> left;
    };
    return std::make_unique<Source>(array_.values);
  }

 private:
  IdxArray array_;
  std::size_t columns_;
};

}  // namespace

std::unique_ptr<ByteSource> ArrayText::text() const {
  return std::make_unique<Lines>(numbers(), columns());
}

std::shared_ptr<const ArrayText> ArrayText::open(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    return nullptr;  // a pipe cannot be read twice: always CSV
  char head[8];
  const std::string_view begin(head, open_bytes(path)->read(head));
  if (begin.starts_with(kNpy)) return std::make_shared<NpyFile>(path);
  if (begin.starts_with(kIdxBytes)) return std::make_shared<IdxFile>(path);
  return nullptr;
}

}  // namespace sotto
