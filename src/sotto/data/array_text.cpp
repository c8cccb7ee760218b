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

template <class Number>
class Source final : public ByteSource {
 public:
  Source(const std::vector<Number>& values, std::size_t columns)
      : values_(values), columns_(columns) {}

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
    if (at_ == values_.size()) return false;
    line_.clear();
    for (const std::size_t end = at_ + columns_; at_ < end; ++at_) {
      fmt::format_to(std::back_inserter(line_), "{}", values_[at_]);
      line_ += at_ + 1 < end ? ',' : '\n';
    }
    given_ = 0;
    return true;
  }

  const std::vector<Number>& values_;
  std::size_t columns_, at_ = 0, given_ = 0;
  std::string line_;
};

template <class Array>
class Text final : public ArrayText {
 public:
  Text(Array array, const std::string& path) : array_(std::move(array)) {
    const auto& shape = array_.shape;
    if (!shape.empty()) {
      columns_ =
          std::accumulate(shape.begin() + 1, shape.end(), std::size_t{1}, std::multiplies<>());
    }
    if (shape.empty() || columns_ == 0) {  // no record at all is a number of records like any
      throw DataError(fmt::format("{} holds no column", path),
                      "the first axis of the array counts the records");
    }
  }
  std::size_t columns() const override { return columns_; }
  std::unique_ptr<ByteSource> text() const override {
    return std::make_unique<Source<typename decltype(array_.values)::value_type>>(array_.values,
                                                                                  columns_);
  }

 private:
  Array array_;
  std::size_t columns_ = 1;
};

}  // namespace

std::shared_ptr<const ArrayText> ArrayText::open(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    return nullptr;  // a pipe cannot be read twice: always CSV
  char head[8];
  const std::string_view begin(head, open_bytes(path)->read(head));
  if (begin.starts_with(kNpy)) return std::make_shared<Text<NpyArray>>(read_npy(path), path);
  if (begin.starts_with(kIdxBytes)) return std::make_shared<Text<IdxArray>>(read_idx(path), path);
  return nullptr;
}

}  // namespace sotto
