#include "sotto/local/client/puzzle.hpp"

#include "sotto/core/error.hpp"
#include "sotto/local/client/hash_family.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

FragmentPuzzle::FragmentPuzzle(double epsilon, std::uint64_t length, const SketchShape& shape)
    : length_(length), sketch_(epsilon / 2, shape) {
  if (length < 2 || length > 32 || length % kFragment != 0)
    throw InvalidArgument("the `length` of words is even, from 2 to 32");
}

std::string FragmentPuzzle::padded(std::string_view word) const {
  std::string result(word.substr(0, length_));
  result.resize(length_, '\0');
  return result;
}

std::uint8_t FragmentPuzzle::piece_hash(const std::string& padded) {
  return static_cast<std::uint8_t>(key_of_word(padded) >> 56);
}

std::string FragmentPuzzle::piece(std::uint64_t place, std::uint8_t hash,
                                  std::string_view fragment) {
  std::string result = {static_cast<char>(place), static_cast<char>(hash)};
  return result += fragment;
}

void FragmentPuzzle::answer(const Value& value, Memory* memory, Rng& rng,
                            std::span<std::uint8_t> report) const {
  const std::string whole = padded(word(value));
  const std::uint64_t place = uniform_below(rng, places());
  const std::string part =
      piece(place, piece_hash(whole), std::string_view(whole).substr(kFragment * place, kFragment));
  report[0] = static_cast<std::uint8_t>(place);
  const std::size_t size = sketch_.report_bytes();
  sketch_.answer(std::string_view(part), memory, rng, report.subspan(1, size));
  sketch_.answer(std::string_view(whole), memory, rng, report.subspan(1 + size, size));
}

long double FragmentPuzzle::probability(const Value& value, Bytes report) const {
  const std::string whole = padded(word(value));
  const std::string part = piece(report[0], piece_hash(whole),
                                 std::string_view(whole).substr(kFragment * report[0], kFragment));
  const std::size_t size = sketch_.report_bytes();
  return sketch_.probability(std::string_view(part), report.subspan(1, size)) *
         sketch_.probability(std::string_view(whole), report.subspan(1 + size, size));
}

}  // namespace sotto::local
