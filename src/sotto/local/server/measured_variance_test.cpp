// Variances as measured over many collections, beside those of theory and those that are stated,
// where the estimates are of numbers, vectors, ranges and words. (Categories: estimates_test.cpp,
// numbers one by one: numbers_test.cpp, sketches: words_test.cpp.)
//
// Each measured variance is that of 54 000 nearly normal estimates or more, which scatters by
// √(2/54000) = 0.61 %: 3 % are 4.9 of these, a false alarm with probability 1e-6. Seeds are fixed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sotto/local/client/memory.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/rappor.hpp"
#include "sotto/local/client/rounded_bit.hpp"
#include "sotto/local/server/accumulator.hpp"
#include "sotto/local/server/numbers.hpp"
#include "sotto/local/server/prefixes.hpp"
#include "sotto/local/server/puzzles.hpp"
#include "sotto/local/server/rappor_decoding.hpp"

namespace sotto::local::measured_variance_test {

using Report = std::vector<std::uint8_t>;
constexpr double kAllowed = 0.03;
constexpr double kEstimates = 54'000;

Declaration declared(const std::string& protocol, double epsilon,
                     const OptionValues::Raw& options = {}, std::uint64_t domain = 0) {
  return declare({.protocol = protocol, .epsilon = epsilon, .domain = domain},
                 OptionValues(protocol_options(protocol_kind(protocol)), options));
}

// Of a client that answers once and is never asked again: what it would remember is drawn.
class Once final : public Memory {
 public:
  std::string recall(std::string_view, std::size_t bytes, Rng& rng) override {
    std::string drawn(bytes, '\0');
    for (std::size_t i = 0; i < bytes; i += 8) {
      const std::uint64_t word = rng.next_u64();
      for (std::size_t j = i; j < std::min(bytes, i + 8); ++j)
        drawn[j] = static_cast<char>(word >> 8 * (j - i) & 0xFF);
    }
    return drawn;
  }
};

// Estimates of one thing, with the variance that the collector states beside each.
struct Measured {
  double count = 0, sum = 0, squares = 0, stated = 0;
  void add(double estimate, double variance) {
    ++count, sum += estimate, squares += estimate * estimate, stated += variance;
  }
  double mean() const { return sum / count; }
  double variance() const { return (squares - sum * sum / count) / (count - 1); }
  double stated_variance() const { return stated / count; }
};

// All variances together against what theory says of them together, in units of each.
void expect_theory(const std::vector<Measured>& all, const std::vector<double>& theory,
                   const std::string& what) {
  double measured = 0, stated = 0, count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    measured += all[i].variance() / theory[i] / static_cast<double>(all.size());
    stated += all[i].stated_variance() / theory[i] / static_cast<double>(all.size());
    count += all[i].count;
  }
  ASSERT_GE(count, kEstimates) << what;
  EXPECT_NEAR(measured, 1, kAllowed) << what << ": measured";
  EXPECT_NEAR(stated, 1, kAllowed) << what << ": stated";
}

// E[1/N] of N ~ Bin(n, p) that is not 0.
double mean_inverse(double n, double p) {
  double sum = 0, all = 0;
  for (double k = 1; k <= n; ++k) {
    const double w = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                              k * std::log(p) + (n - k) * std::log1p(-p));
    sum += w / k, all += w;
  }
  return sum / all;
}

// n·Var of one report's estimate of x, from the piecewise mechanism's published formula.
double piecewise_variance(double epsilon, double x) {
  const double s = std::exp(epsilon / 2);
  return x * x / (s - 1) + (s + 3) / (3 * (s - 1) * (s - 1));
}

TEST(MeasuredVariance, OfVectorsByCoordinates) {
  constexpr int kRounds = 11'000, kClients = 200, kDimensions = 5;
  const Declaration d =
      declared("coordinates", 6, {{"dimensions", {"5"}}, {"lower", {"-1"}}, {"upper", {"1"}}});
  ASSERT_EQ(d.parameter("sampled"), 2);
  const auto r = make_randomizer(d);
  const std::vector<double> x = {-1, -0.5, 0, 0.5, 0.9};
  Rng rng = Rng::insecure_seed(51);
  Report report(r->report_bytes());
  std::vector<Measured> all(kDimensions);
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_number_aggregator(d);
    for (int i = 0; i < kClients; ++i) {
      r->answer(std::span<const double>(x), nullptr, rng, report);
      aggregator->add(report);
    }
    const auto means = dynamic_cast<MeanAggregator&>(*aggregator).means();
    for (int i = 0; i < kDimensions; ++i)
      all[i].add(means[i].value, means[i].standard_error * means[i].standard_error);
  }
  // Half of ε for each of two coordinates; a coordinate is spoken of by two in five clients.
  std::vector<double> theory;
  for (const double v : x) theory.push_back(piecewise_variance(3, v) * mean_inverse(200, 0.4));
  expect_theory(all, theory, "coordinates");
}

TEST(MeasuredVariance, OfPermanentBitsOfARoundedNumber) {
  constexpr int kRounds = 54'000, kClients = 20;
  for (const double gamma : {0.0, 0.1}) {
    const Declaration d =
        declared("rounded_bit", 2,
                 {{"lower", {"0"}}, {"upper", {"10"}}, {"gamma", {fmt::format("{}", gamma)}}});
    const auto r = make_randomizer(d);
    Rng rng = Rng::insecure_seed(52);
    Report report(1);
    std::vector<Measured> all(1);
    Once memory;
    for (int round = 0; round < kRounds; ++round) {
      const auto aggregator = make_number_aggregator(d);
      for (int i = 0; i < kClients; ++i) {
        r->answer(3.3, &memory, rng, report);
        aggregator->add(report);
      }
      const EstimatedMean m = dynamic_cast<MeanAggregator&>(*aggregator).means()[0];
      all[0].add(m.value, m.standard_error * m.standard_error);
    }
    // A bit that is 1 with probability r, stretched from [q, 1 − q] to the bounds.
    const double bit = 1 / (std::exp(2.0) + 1), q = gamma + (1 - 2 * gamma) * bit;
    const double one = q + 0.33 * (1 - 2 * q);
    const double theory = 100 * one * (1 - one) / ((1 - 2 * q) * (1 - 2 * q) * kClients);
    expect_theory(all, {theory}, fmt::format("rounded_bit, gamma {}", gamma));
    EXPECT_NEAR(all[0].mean(), 3.3, 6 * std::sqrt(theory / kRounds));
  }
}

// The variance of the share of a node: clients of its level are drawn from all n without putting
// back; each answers for the node with probability p if it is below it, else q.
struct NodeTheory {
  double p, q, clients, level_share;
  double operator()(double f) const {
    const double inverse = mean_inverse(clients, level_share);
    const double noise = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / ((p - q) * (p - q));
    return noise * inverse + f * (1 - f) * clients / (clients - 1) * (inverse - 1 / clients);
  }
};

TEST(MeasuredVariance, OfRangesByATree) {
  // Few functions make a round quick; what they get wrong is the same in every round, hence no part
  // of the measured variance, and taken off the stated one.
  constexpr int kRounds = 14'000, kClients = 450;
  const Declaration d = declared("range_tree", 1, {{"seeds", {"512"}}, {"buckets", {"4"}}}, 8);
  const auto r = make_randomizer(d);
  const double common = 1.0 / (3 * 512), e = std::exp(1.0);
  Rng rng = Rng::insecure_seed(53);
  Report report(r->report_bytes());
  const std::vector<std::pair<unsigned, unsigned>> ranges = {{0, 3}, {4, 5}, {2, 2}, {7, 7}};
  std::vector<Measured> all(ranges.size()), joined(1);  // joined: 1, 2-3, 4-5 and 6
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_aggregator(d);
    for (unsigned i = 0; i < kClients; ++i) {  // 0 … 5 alike
      r->answer(std::uint64_t{i % 6}, nullptr, rng, report);
      aggregator->add(report);
    }
    const auto& prefixes = dynamic_cast<PrefixAggregator&>(*aggregator);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto s = prefixes.range(ranges[i].first, ranges[i].second);
      all[i].add(s.value, s.variance - common);
    }
    const auto s = prefixes.range(1, 6);
    joined[0].add(s.value, s.variance - 4 * common);
  }
  const NodeTheory node{e / (e + 3), 0.25, kClients, 1.0 / 3};
  expect_theory(all, {node(4.0 / 6), node(2.0 / 6), node(1.0 / 6), node(0)}, "range_tree");
  // Shares of nodes of one level are drawn against each other, those of different levels with each
  // other: 1 and 6 with 2-3 and 4-5. 14 000 estimates scatter by 1.2 %, 6 % is five of these.
  const double inverse = mean_inverse(kClients, 1.0 / 3), n = kClients, step = n / (n - 1);
  const auto covariance = [&](double f, double g, bool level) {
    return step * f * g * (1 / n - (level ? inverse : 0));
  };
  const double one = 1.0 / 6, two = 2.0 / 6;
  const double theory = node(one) + 2 * node(two) + node(0) + 2 * covariance(two, two, true) +
                        2 * 2 * covariance(one, two, false);
  EXPECT_NEAR(joined[0].variance() / theory, 1, 0.06);
  EXPECT_NEAR(joined[0].stated_variance() / theory, 1, kAllowed);
}

TEST(MeasuredVariance, OfPrefixesOfWords) {
  constexpr int kRounds = 6'100, kClients = 300;
  const Declaration d =
      declared("prefix_tree", 1, {{"length", {"2"}}, {"seeds", {"512"}}, {"buckets", {"4"}}});
  const auto r = make_randomizer(d);
  const double common = 1.0 / (3 * 512), e = std::exp(1.0);
  Rng rng = Rng::insecure_seed(54);
  Report report(r->report_bytes());
  std::map<std::string, Measured> all;
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_aggregator(d);
    for (int i = 0; i < kClients; ++i) {  // half have "ab", a third "b", the others "cc"
      r->answer(std::string_view(i % 6 < 3 ? "ab" : i % 6 < 5 ? "b" : "cc"), nullptr, rng, report);
      aggregator->add(report);
    }
    // Every word of two letters, however rare.
    const auto found = dynamic_cast<PrefixAggregator&>(*aggregator).heavy_hitters("abc", 256, -1e9);
    for (const FoundWord& f : found)
      all[f.word].add(f.share, f.standard_error * f.standard_error - common);
  }
  std::vector<Measured> measured;
  std::vector<double> theory;
  const NodeTheory node{e / (e + 3), 0.25, kClients, 0.5};
  for (const auto& [word, m] : all) {
    const double f = word == "ab" ? 0.5 : word == "b" ? 2.0 / 6 : word == "cc" ? 1.0 / 6 : 0;
    measured.push_back(m), theory.push_back(node(f));
  }
  EXPECT_EQ(measured.size(), 13u);  // nine of two letters, three of one, none
  expect_theory(measured, theory, "prefix_tree");
}

TEST(MeasuredVariance, OfWordsFromPuzzles) {
  constexpr int kRounds = 1'400, kClients = 200, kWidth = 64, kRows = 16, kWords = 40;
  const Declaration d =
      declared("sfp", 4, {{"length", {"4"}}, {"rows", {"16"}}, {"width", {"64"}}});
  const auto r = make_randomizer(d);
  Rng rng = Rng::insecure_seed(55);
  Report report(r->report_bytes());
  std::vector<std::string> words;  // that nobody has
  for (int i = 0; i < kWords; ++i) words.push_back(fmt::format("n{}", i));
  std::vector<Measured> all(kWords);
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_aggregator(d);
    for (int i = 0; i < kClients; ++i) {
      r->answer(std::string_view(i % 2 == 0 ? "xx" : "yy"), nullptr, rng, report);
      aggregator->add(report);
    }
    const Frequencies f = dynamic_cast<PuzzleAggregator&>(*aggregator).shares(words);
    for (int i = 0; i < kWords; ++i) all[i].add(f.share[i], f.variance[i]);
  }
  // Half of ε for the word. One report: ±c at the word's cell, of mean 1/m over the functions.
  const double c = 1 / std::tanh(1.0), m = kWidth, grow = m / (m - 1);
  const double noise = grow * grow * (c * c - 1 / (m * m)) / kClients;
  double measured = 0, stated = 0;
  for (const Measured& word : all)
    measured += word.variance() / kWords, stated += word.stated_variance() / kWords;
  static_assert(kRounds * kWords >= kEstimates);
  EXPECT_NEAR(measured / noise, 1, kAllowed);
  // Stated besides: what 16 rows get wrong, at most as if all clients had one other word.
  EXPECT_GE(stated, noise);
  EXPECT_LE(stated, noise * (1 + kAllowed) + 1 / ((m - 1) * kRows));
}

// A cohort's bit, and the standard errors of the least squares. The LASSO before it has no exact
// theory; here it leaves out no word, since all are frequent. The published variance of a bit,
// r(1−r)/(N(q*−p*)²), is that of clients drawn at random; here the clients stay the same, and their
// cohorts are drawn.
TEST(MeasuredVariance, OfRappor) {
  constexpr int kRounds = 13'500, kClients = 300, kBits = 32, kCohorts = 2, kWords = 4;
  const RapporParameters parameters{
      .bits = kBits, .hashes = 4, .cohorts = kCohorts, .f = 0.125, .p = 0.25, .q = 0.75};
  const Rappor rappor(parameters);
  const auto one = static_cast<double>(rappor.one_given_one()),
             zero = static_cast<double>(rappor.one_given_zero()), gap = one - zero;
  std::vector<RapporCandidate> candidates;
  for (int w = 0; w < kWords; ++w)
    candidates.push_back(rappor_candidate(fmt::format("word {}", w), parameters));
  Rng rng = Rng::insecure_seed(56);
  Report report(rappor.report_bytes());
  std::vector<Measured> bits(kCohorts * kBits), words(kWords);
  Once memory;
  for (int round = 0; round < kRounds; ++round) {
    RapporCounts counts(rappor);
    for (int i = 0; i < kClients; ++i) {
      rappor.answer(std::string_view(candidates[i % kWords].word), &memory, rng, report);
      counts.add(report);
    }
    const auto cells = counts.cells();
    for (int i = 0; i < kCohorts * kBits; ++i) {
      const std::int64_t* row = cells.data() + i / kBits * (kBits + 1);
      const double seen = static_cast<double>(row[1 + i % kBits]) / static_cast<double>(row[0]);
      bits[i].add((seen - zero) / gap, 0);
    }
    const auto found = decode_rappor(rappor, cells, candidates);
    for (int w = 0; w < kWords; ++w)
      words[w].add(found[w].coefficient, found[w].standard_error * found[w].standard_error);
  }
  const NodeTheory theory{one, zero, kClients, 1.0 / kCohorts};  // as a node of a tree
  double measured = 0, ratio = 0;
  for (int i = 0; i < kCohorts * kBits; ++i) {
    double share = 0;
    for (const RapporCandidate& c : candidates)
      share += (c.bits[i / kBits] >> (i % kBits) & 1) / double{kWords};
    measured += bits[i].variance() / theory(share) / (kCohorts * kBits);
  }
  EXPECT_NEAR(measured, 1, kAllowed);
  static_assert(kRounds * kWords >= kEstimates);
  for (const Measured& w : words) ratio += w.variance() / w.stated_variance() / kWords;
  EXPECT_NEAR(ratio, 1, kAllowed);
}

// The square wave has two estimates with exact theory: the mean, whose variance follows from the
// law of one report, and the likeliest shares without smoothing, whose covariance is the inverse of
// the Fisher information once reports are many. Smoothing has none and is not looked at here.
TEST(MeasuredVariance, OfASquareWave) {
  constexpr int kRounds = 54'000, kClients = 400, kPositions = 3;
  const Declaration d =
      declared("square_wave", 3, {{"lower", {"0"}}, {"upper", {"1"}}, {"positions", {"3"}}});
  const auto r = make_randomizer(d);
  Rng rng = Rng::insecure_seed(57);
  Report report(r->report_bytes());
  std::vector<Measured> mean(1), shares(kPositions);
  for (int round = 0; round < kRounds; ++round) {
    const auto aggregator = make_number_aggregator(d);
    for (int i = 0; i < kClients; ++i) {  // drawn at random, alike: each of the positions
      r->answer(0.5 * static_cast<double>(rng.next_u64() % 3), nullptr, rng, report);
      aggregator->add(report);
    }
    auto& wave = dynamic_cast<WaveAggregator&>(*aggregator);
    const EstimatedMean m = wave.mean();
    mean[0].add(m.value, m.standard_error * m.standard_error);
    const std::vector<double> found = wave.distribution(false);
    for (int i = 0; i < kPositions; ++i) shares[i].add(found[i], 0);
  }
  // The law of a report for each position.
  std::vector<std::vector<double>> law;
  const auto reader = make_number_aggregator(d);
  for (std::uint64_t y = 0; write_whole(report, y), reader->accepts(report); ++y) {
    law.emplace_back();
    for (const double x : {0.0, 0.5, 1.0})
      law.back().push_back(static_cast<double>(r->probability(x, report)));
  }
  // The mean: a + b·y, b from what two positions let expect.
  double at[2] = {0, 0}, first = 0, second = 0, all = 0;
  // Fisher's information of the first two shares; the third is what is left.
  double a = 0, b = 0, c = 0;
  for (std::size_t y = 0; y < law.size(); ++y) {
    const auto place = static_cast<double>(y);
    const double p = (law[y][0] + law[y][1] + law[y][2]) / 3;
    at[0] += law[y][0] * place, at[1] += law[y][2] * place;
    all += p, first += p * place, second += p * place * place;
    const double u = law[y][0] - law[y][2], v = law[y][1] - law[y][2];
    a += u * u / p, b += u * v / p, c += v * v / p;
  }
  EXPECT_NEAR(all, 1, 1e-12);
  const double slope = 1 / (at[1] - at[0]);
  expect_theory(mean, {slope * slope * (second - first * first) / kClients}, "square_wave");
  EXPECT_NEAR(mean[0].mean(), 0.5, 6 * std::sqrt(mean[0].variance() / kRounds));
  const double determinant = a * c - b * b;
  const double theory[] = {c / determinant / kClients, a / determinant / kClients,
                           (a + c - 2 * b) / determinant / kClients};
  double ratio = 0;
  for (int i = 0; i < kPositions; ++i) ratio += shares[i].variance() / theory[i] / kPositions;
  EXPECT_NEAR(ratio, 1, kAllowed);
}

}  // namespace sotto::local::measured_variance_test
