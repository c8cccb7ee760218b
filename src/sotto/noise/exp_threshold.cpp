#include "sotto/noise/detail/exp_threshold.hpp"

#include <algorithm>
#include <vector>

namespace sotto::detail {
namespace {

enum class Round { down, up };

// A non-negative multi-word integer, lowest word first, no leading zero words.
using Words = std::vector<std::uint64_t>;

void trim(Words& v) {
  while (!v.empty() && v.back() == 0) v.pop_back();
}

void multiply(Words& v, std::uint64_t by) {
  std::uint64_t carry = 0;
  for (auto& word : v) {
    const uint128 t = static_cast<uint128>(word) * by + carry;  // ≤ (2^64−1)² + 2^64−1 < 2^128
    word = static_cast<std::uint64_t>(t);
    carry = static_cast<std::uint64_t>(t >> 64);
  }
  if (carry != 0) v.push_back(carry);
}

void add(Words& v, const Words& other) {
  if (v.size() < other.size()) v.resize(other.size());
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const uint128 t = static_cast<uint128>(v[i]) + (i < other.size() ? other[i] : 0) + carry;
    v[i] = static_cast<std::uint64_t>(t);
    carry = static_cast<std::uint64_t>(t >> 64);
  }
  if (carry != 0) v.push_back(carry);
}

void divide(Words& v, std::uint64_t by, Round round) {
  std::uint64_t remainder = 0;
  for (std::size_t i = v.size(); i-- > 0;) {
    const uint128 t = static_cast<uint128>(remainder) << 64 | v[i];
    v[i] = static_cast<std::uint64_t>(t / by);
    remainder = static_cast<std::uint64_t>(t % by);
  }
  trim(v);
  if (round == Round::up && remainder != 0) add(v, {1});
}

bool less(const Words& a, const Words& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// A bound on start·e^x from below or above; or, as soon as that is certain, some number above
// `enough` and not above the bound.
Words times_exp(const Words& start, const ExpThreshold& t, Round round, const Words& enough) {
  const auto product = [](const auto& f) { return static_cast<uint128>(f[0]) * f[1]; };
  const auto halving_from =
      2 * (static_cast<std::uint64_t>(product(t.a) / product(t.b)) + 1);  // ≥ 2x
  Words term = start, sum = start;
  for (std::uint64_t k = 1;; ++k) {
    multiply(term, t.a[0]);
    multiply(term, t.a[1]);
    trim(term);
    divide(term, t.b[0], round);
    divide(term, t.b[1], round);
    divide(term, k, round);
    add(sum, term);
    if (less(enough, sum)) return sum;  // the terms are positive
    // From k ≥ 2x on, each term is at most half the one before: all later ones together are at most
    // this one.
    const bool negligible = term.empty() || (term.size() == 1 && term[0] <= 4);
    if (k >= halving_from && negligible) break;
  }
  if (round == Round::up) add(sum, term);
  return sum;
}

}  // namespace

bool below_exp_threshold(Rng& rng, std::uint64_t first, const ExpThreshold& t) {
  Words target(t.s / 64 + 1);  // p·2^s, in units of 2^-64 per drawn word, as U
  target.back() = std::uint64_t{1} << t.s % 64;
  multiply(target, t.p);
  Words uniform{first};
  for (;;) {
    target.insert(target.begin(), 0);
    Words low = uniform, high = uniform;
    trim(low);
    trim(high);
    add(high, {1});
    multiply(low, t.q);
    multiply(high, t.q);
    if (!less(times_exp(low, t, Round::down, target), target)) return false;
    if (!less(target, times_exp(high, t, Round::up, target)))
      return true;  // even the upper end of U
    uniform.insert(uniform.begin(), rng.next_u64());
  }
}

}  // namespace sotto::detail
