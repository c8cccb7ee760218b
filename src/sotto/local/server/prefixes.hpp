// Ranges of categories and frequent words, from reports of prefixes.
//
// What       range(): the share of the clients whose category lies in a range. heavy_hitters(): the
//            words that many clients have, found byte by byte.
// Guarantee  Post-processing.
// Method     A range of categories is cut into the largest nodes of the binary tree that fit, at
//            most two a level; their estimated shares are added. Words: prefixes that are frequent
//            enough, `deviations` standard errors above nothing, are extended by one byte of an
//            alphabet; at the last level the words remain [WBLJ17].
// Numerics   Each level has reports of its own; estimates are unbiased, with the variance of fast
//            local hashing. No more than `most` prefixes are followed at a level.
// Reference  [WBLJ17], [CMM21].
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/leveled_hash.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {

struct FoundWord {
  std::string word;
  double share, standard_error;
};

class PrefixAggregator final : public Aggregator {
 public:
  explicit PrefixAggregator(const LeveledHash& leveled);
  bool accepts(Bytes report) const override;

  struct Share {
    double value, variance;
  };
  // Of categories first … last, both inside of the declared ones.
  Share range(std::uint64_t first, std::uint64_t last) const;
  std::vector<FoundWord> heavy_hitters(const std::string& alphabet, std::size_t most = 256,
                                       double deviations = 4) const;
  const LeveledHash& leveled() const { return leveled_; }

 private:
  void count(Bytes report) override;
  // Of a node, among the clients that report at its level.
  Share share(std::uint64_t level, std::uint64_t key) const;
  double sampling_variance(const std::map<std::uint64_t, double>& by_level) const;
  std::uint64_t reports_at(std::uint64_t level) const;
  LeveledHash leveled_;
};

}  // namespace sotto::local
