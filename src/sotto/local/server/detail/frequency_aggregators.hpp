// Detail: one class for each way to count reports about categories.
#pragma once

#include <array>

#include "sotto/local/client/direct.hpp"
#include "sotto/local/client/hadamard.hpp"
#include "sotto/local/client/histogram.hpp"
#include "sotto/local/client/local_hash.hpp"
#include "sotto/local/client/longitudinal.hpp"
#include "sotto/local/client/subset.hpp"
#include "sotto/local/client/unary.hpp"
#include "sotto/local/server/aggregator.hpp"

namespace sotto::local::detail {

// Protocols whose reports support categories, each with probability p or q.
class SupportAggregator : public FrequencyAggregator {
 public:
  SupportAggregator(std::uint64_t cells, std::uint64_t categories, double p, double q)
      : FrequencyAggregator(cells), categories_(categories), p_(p), q_(q) {}
  Frequencies frequencies() override;
  std::optional<Support> support() override { return Support{p_, q_, counts()}; }
  double unit_variance(double share) const override { return support_variance(p_, q_, share); }

 protected:
  // Reports that support each category.
  virtual std::vector<double> counts();
  // What all reports alike have wrong, because hash functions are few: adds to each variance.
  virtual double common_variance(const std::vector<double>&) const { return 0; }
  std::uint64_t categories_;
  double p_, q_;
};

class DirectCounts final : public SupportAggregator {
 public:
  explicit DirectCounts(const DirectEncoding& r)
      : SupportAggregator(r.categories(), r.categories(), r.p(), r.q()), bytes_(r.report_bytes()) {}
  bool accepts(Bytes report) const override {
    return report.size() == bytes_ && read_whole(report) < categories_;
  }

 private:
  void count(Bytes report) override { ++cells_[read_whole(report)]; }
  std::size_t bytes_;
};

// Bitmaps, 64 bits at a time: eight bits of 64 counters lie in eight words, until 255 reports are
// full.
class BitCounts final : public SupportAggregator {
 public:
  // ones = 0: any number of bits may be set.
  BitCounts(std::uint64_t categories, double p, double q, std::uint64_t ones = 0);
  bool accepts(Bytes report) const override;

 private:
  void count(Bytes report) override;
  void settle() override;

  static constexpr int kPlanes = 8;
  std::uint64_t ones_;
  std::array<std::vector<std::uint64_t>, kPlanes> planes_;
  int waiting_ = 0;
};

// Local hashing with seeds of their own: every category is looked at for every report.
class HashCounts final : public SupportAggregator {
 public:
  // p: that the reported bucket is the value's.
  HashCounts(const LocalHash& r, std::uint64_t categories, double p)
      : SupportAggregator(categories, categories, p, r.q()), hash_(r) {}
  bool accepts(Bytes report) const override {
    return report.size() == hash_.report_bytes() && hash_.reported(report) < hash_.buckets();
  }

 private:
  void count(Bytes report) override;
  LocalHash hash_;
};

// Local hashing with few seeds: a table of seeds × buckets.
class HashTable final : public SupportAggregator {
 public:
  HashTable(const LocalHash& r, std::uint64_t categories)
      : SupportAggregator(r.seeds() * r.buckets(), categories, r.p(), r.q()), hash_(r) {}
  bool accepts(Bytes report) const override {
    return report.size() == hash_.report_bytes() && hash_.seed(report) < hash_.seeds() &&
           hash_.reported(report) < hash_.buckets();
  }

 private:
  void count(Bytes report) override {
    ++cells_[hash_.seed(report) * hash_.buckets() + hash_.reported(report)];
  }
  std::vector<double> counts() override;
  double common_variance(const std::vector<double>& shares) const override;
  LocalHash hash_;
};

class ColumnCounts final : public FrequencyAggregator {
 public:
  explicit ColumnCounts(const HadamardResponse& r)
      : FrequencyAggregator(r.columns()), response_(r) {}
  bool accepts(Bytes report) const override {
    return report.size() == response_.report_bytes() && read_whole(report) < response_.columns();
  }
  Frequencies frequencies() override;
  std::optional<Support> support() override;
  double unit_variance(double share) const override;

 private:
  void count(Bytes report) override { ++cells_[read_whole(report)]; }
  std::vector<double> own_columns() const;  // reports in the columns of each category
  double variance(double share, double block_share) const;
  HadamardResponse response_;
};

// Bits of a few categories each: for every category how many were asked, and how many said yes.
class AskedBits final : public FrequencyAggregator {
 public:
  explicit AskedBits(const BucketBits& r) : FrequencyAggregator(2 * r.categories()), bits_(r) {}
  bool accepts(Bytes report) const override;
  Frequencies frequencies() override;
  double unit_variance(double share) const override;

 private:
  void count(Bytes report) override;
  BucketBits bits_;
};

class NoisySums final : public FrequencyAggregator {
 public:
  explicit NoisySums(const HistogramEncoding& r)
      : FrequencyAggregator(r.categories()), variance_(r.noise_variance()) {}
  bool accepts(Bytes report) const override { return report.size() == 4 * cells_.size(); }
  Frequencies frequencies() override;
  double unit_variance(double) const override { return variance_; }

 private:
  void count(Bytes report) override;
  std::int64_t most_down() const override { return std::int64_t{1} << 31; }
  std::int64_t most_up() const override { return (std::int64_t{1} << 31) - 1; }
  double variance_;
};

}  // namespace sotto::local::detail
