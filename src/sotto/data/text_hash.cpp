#include "sotto/data/text_hash.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sotto {
namespace {

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// FNV-1a, and bits that all depend on all bytes at its end.
class Hash {
 public:
  explicit Hash(std::uint64_t kind) { add(static_cast<char>(kind)); }
  void add(char c) { state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  std::uint64_t value() const {
    std::uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
    return h ^ (h >> 33);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

void count(const Hash& hash, std::span<double> out) {
  const std::uint64_t h = hash.value();
  out[(h >> 1) % out.size()] += (h & 1) != 0 ? 1.0 : -1.0;
}

// The runs of so many characters of one word, its ends marked.
void count_runs(std::string_view word, std::size_t length, std::span<double> out) {
  const std::string marked = "<" + std::string(word) + ">";
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (begins_character(marked[i])) starts.push_back(i);
  starts.push_back(marked.size());
  for (std::size_t i = 0; i + length < starts.size(); ++i) {
    Hash hash(2);
    hash.add(std::string_view(marked).substr(starts[i], starts[i + length] - starts[i]));
    count(hash, out);
  }
}

}  // namespace

void TextHash::write(std::string_view cell, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<Hash> runs;  // of the last words, the longest first
  std::string word;
  for (std::size_t at = 0; at <= cell.size(); ++at) {
    if (at < cell.size() && is_word_byte(cell[at])) {
      word += lower(cell[at]);
      continue;
    }
    if (word.empty()) continue;
    if (runs.size() == words) runs.erase(runs.begin());
    for (Hash& run : runs) run.add(' ');
    runs.emplace_back(1);
    for (Hash& run : runs) {
      run.add(word);
      count(run, out);
    }
    if (characters > 0) count_runs(word, characters, out);
    word.clear();
  }
  double square = 0;  // exact: an integer far below 2^53
  for (const double c : out) square += c * c;
  if (square == 0) return;
  const double factor = (1 - 0x1p-49) / std::sqrt(square);
  for (double& c : out) c *= factor;
}

}  // namespace sotto
