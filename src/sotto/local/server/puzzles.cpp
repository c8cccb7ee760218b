#include "sotto/local/server/puzzles.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/local/client/hash_family.hpp"
#include "sotto/local/server/detail/sketch_estimates.hpp"

namespace sotto::local {
namespace {

constexpr std::size_t kMostWords = std::size_t{1} << 20;

}  // namespace

// Cells: how many reports each place has, then the sketches of the places, then that of the words.
PuzzleAggregator::PuzzleAggregator(const FragmentPuzzle& puzzle)
    : Aggregator(puzzle.places() + (puzzle.places() + 1) * puzzle.sketch().shape().rows *
                                       puzzle.sketch().shape().width),
      puzzle_(puzzle) {}

std::uint64_t PuzzleAggregator::sketch_cells() const {
  return puzzle_.sketch().shape().rows * puzzle_.sketch().shape().width;
}

std::span<const std::int64_t> PuzzleAggregator::sketch(std::uint64_t place) const {
  return std::span(cells_).subspan(puzzle_.places() + place * sketch_cells(), sketch_cells());
}

bool PuzzleAggregator::accepts(Bytes report) const {
  if (report.size() != puzzle_.report_bytes() || report[0] >= puzzle_.places()) return false;
  const HadamardSketch& s = puzzle_.sketch();
  return s.readable(report.subspan(1, s.report_bytes())) &&
         s.readable(report.subspan(1 + s.report_bytes()));
}

void PuzzleAggregator::count(Bytes report) {
  const HadamardSketch& s = puzzle_.sketch();
  const auto add = [&](std::uint64_t place, Bytes part) {
    const auto [cell, sign] = s.told(part);
    cells_[puzzle_.places() + place * sketch_cells() + cell] += sign;
  };
  ++cells_[report[0]];
  add(report[0], report.subspan(1, s.report_bytes()));
  add(puzzle_.places(), report.subspan(1 + s.report_bytes()));
}

std::vector<PuzzleAggregator::Piece> PuzzleAggregator::pieces(std::uint64_t place,
                                                              const std::string& alphabet,
                                                              std::size_t most,
                                                              double deviations) const {
  std::vector<Piece> all;
  std::vector<std::uint64_t> keys;
  const std::string letters = alphabet + '\0';
  for (unsigned hash = 0; hash < 256; ++hash) {
    for (const char a : letters) {
      for (const char b : letters) {
        if (a == '\0' && b != '\0') continue;  // nothing comes after the end
        all.push_back({static_cast<std::uint8_t>(hash), {a, b}, 0});
        keys.push_back(
            key_of_word(FragmentPuzzle::piece(place, all.back().hash, all.back().bytes)));
      }
    }
  }
  const HadamardSketch& s = puzzle_.sketch();
  const auto n = static_cast<double>(cells_[place]);
  if (n == 0) return {};
  const Frequencies f = detail::debiased(detail::hadamard_contents(sketch(place), s, keys), n,
                                         s.shape(), s.scale() * s.scale());
  std::vector<Piece> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (f.share[i] <= deviations * std::sqrt(f.variance[i])) continue;
    all[i].share = f.share[i];
    kept.push_back(all[i]);
  }
  std::sort(kept.begin(), kept.end(),
            [](const Piece& a, const Piece& b) { return a.share > b.share; });
  if (kept.size() > most) kept.resize(most);
  return kept;
}

std::vector<std::string> PuzzleAggregator::joined(
    const std::vector<std::vector<Piece>>& by_place) const {
  std::vector<std::string> result;
  for (unsigned hash = 0; hash < 256; ++hash) {
    std::vector<std::string> words = {""};
    for (const std::vector<Piece>& pieces : by_place) {
      std::vector<std::string> fitting, longer;
      for (const Piece& piece : pieces)
        if (piece.hash == hash) fitting.push_back(piece.bytes);
      for (const std::string& word : words) {
        const bool ended = !word.empty() && word.back() == '\0';
        for (const std::string& bytes : fitting) {
          if (ended && bytes[0] != '\0') continue;
          if (longer.size() < kMostWords) longer.push_back(word + bytes);
        }
      }
      words = std::move(longer);
    }
    for (std::string& word : words)
      if (FragmentPuzzle::piece_hash(word) == hash) result.push_back(std::move(word));
  }
  return result;
}

Frequencies PuzzleAggregator::shares(const std::vector<std::string>& words) const {
  std::vector<std::uint64_t> keys;
  for (const std::string& word : words) keys.push_back(key_of_word(puzzle_.padded(word)));
  const HadamardSketch& s = puzzle_.sketch();
  return detail::debiased(detail::hadamard_contents(sketch(puzzle_.places()), s, keys),
                          static_cast<double>(reports_), s.shape(), s.scale() * s.scale());
}

std::vector<FoundWord> PuzzleAggregator::words(const std::string& alphabet, std::size_t most,
                                               double deviations) const {
  std::vector<std::vector<Piece>> by_place;
  for (std::uint64_t place = 0; place < puzzle_.places(); ++place)
    by_place.push_back(pieces(place, alphabet, most, deviations));
  const std::vector<std::string> candidates = joined(by_place);
  const Frequencies f = shares(candidates);
  std::vector<FoundWord> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double error = std::sqrt(f.variance[i]);
    if (f.share[i] <= deviations * error) continue;
    std::string word = candidates[i];
    word.resize(word.find_last_not_of('\0') + 1);
    found.push_back({word, f.share[i], error});
  }
  std::sort(found.begin(), found.end(),
            [](const FoundWord& a, const FoundWord& b) { return a.share > b.share; });
  return found;
}

}  // namespace sotto::local
