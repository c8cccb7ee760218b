// How fast randomness and noise are made, each against the best alternative at hand, in one run.
//
// Contract: exact discrete Gaussian ≥ 10 M draws/s and core; bulk Gaussian within 1.5× of the
// fastest non-cryptographic generator per core and ≥ 2× LibTorch's normal_; random bytes ≥ 4 GB/s
// and core.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/taus88.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "interleaved.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/noise/bulk_gaussian.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"
#include "sotto/noise/reference_samplers.hpp"

#ifdef SOTTO_BENCH_TORCH
namespace sotto::bench {
void torch_normal(std::size_t count, int threads);
}
#endif

namespace {

using namespace sotto;
using bench::Alternative;

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

void bytes(bench::Report& report) {
  static std::vector<std::byte> buffer(std::size_t{1} << 24);
  static Rng rng;
  static std::mt19937_64 twister(1);
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> raw(EVP_CIPHER_CTX_new(),
                                                                       EVP_CIPHER_CTX_free);
  const unsigned char key[32] = {}, counter[16] = {};
  EVP_EncryptInit_ex(raw.get(), EVP_aes_256_ctr(), nullptr, key, counter);
  static std::vector<unsigned char> small(16384);
  const auto size = static_cast<double>(buffer.size());
  report.table("Random bytes", "GB", 1e9,
               {{"Rng::fill (AES-256-CTR)", [] { rng.fill(buffer); }, size},
                {"Rng::next_u64",
                 [] {
                   std::uint64_t all = 0;
                   for (std::size_t i = 0; i < buffer.size() / 8; ++i) all ^= rng.next_u64();
                   keep(all);
                 },
                 size},
                {"OpenSSL EVP AES-256-CTR in place, 16 KiB",
                 [&] {
                   int written = 0;
                   for (std::size_t i = 0; i < buffer.size() / small.size(); ++i) {
                     EVP_EncryptUpdate(raw.get(), small.data(), &written, small.data(),
                                       static_cast<int>(small.size()));
                   }
                   keep(small);
                 },
                 size},
                {"std::mt19937_64 (not cryptographic)",
                 [] {
                   for (std::size_t i = 0; i < buffer.size(); i += 8) {
                     const std::uint64_t word = twister();
                     std::memcpy(&buffer[i], &word, 8);
                   }
                   keep(buffer);
                 },
                 size}});
}

void exact(bench::Report& report, double sigma) {
  static std::vector<std::int64_t> integers(1 << 20);
  static std::vector<double> doubles(integers.size());
  static Rng rng;
  static std::mt19937_64 twister(1);
  constexpr std::size_t kSlow = 1 << 17;
  const DiscreteGaussian gaussian(sigma);
  const DiscreteLaplace laplace(sigma);
  const auto size = static_cast<double>(integers.size());
  report.table(fmt::format("Exact integer noise, scale {:g}", sigma), "M draws", 1e6,
               {{"DiscreteGaussian::fill", [&] { gaussian.fill(rng, integers); }, size},
                {"DiscreteLaplace::fill", [&] { laplace.fill(rng, integers); }, size},
                {"DiscreteGaussian made and drawn from once",
                 [&] {
                   for (std::size_t i = 0; i < kSlow / 8; ++i)
                     integers[i] = DiscreteGaussian(sigma).sample(rng);
                 },
                 kSlow / 8},
                {"plain rejection from discrete Laplace (CKS)",
                 [&] {
                   for (std::size_t i = 0; i < kSlow; ++i)
                     integers[i] = reference_discrete_gaussian(rng, sigma);
                 },
                 kSlow},
                {"std::normal_distribution<double>, mt19937_64 (not exact)",
                 [&] {
                   std::normal_distribution<double> law(0, sigma);
                   for (auto& x : doubles) x = law(twister);
                   keep(doubles);
                 },
                 size}});
}

void bulk(bench::Report& report) {
  static std::vector<float> floats(std::size_t{1} << 22);
  static Rng rng;
  const auto size = static_cast<double>(floats.size());
  const auto with = [&](auto generator, auto law) {
    return [generator, law]() mutable {
      for (auto& x : floats) x = law(generator);
      keep(floats);
    };
  };
  std::vector<Alternative> all{
      {fmt::format("fill_gaussian, 1 thread ({})", bulk_gaussian_kernel()),
       [] { fill_gaussian(rng, floats, 1.0f, 1); }, size},
      {"fill_gaussian, 2 threads", [] { fill_gaussian(rng, floats, 1.0f, 2); }, size},
      {"boost::random normal (ziggurat), taus88",
       with(boost::random::taus88(1), boost::random::normal_distribution<float>()), size},
      {"boost::random normal (ziggurat), mt11213b",
       with(boost::random::mt11213b(1), boost::random::normal_distribution<float>()), size},
      {"std::normal_distribution<float>, mt19937",
       with(std::mt19937(1), std::normal_distribution<float>()), size}};
#ifdef SOTTO_BENCH_TORCH
  all.push_back(
      {"LibTorch normal_, 1 thread", [] { bench::torch_normal(floats.size(), 1); }, size});
  all.push_back(
      {"LibTorch normal_, 2 threads", [] { bench::torch_normal(floats.size(), 2); }, size});
#endif
  report.table("Bulk Gaussian floats", "M floats", 1e6, all);
#ifndef SOTTO_BENCH_TORCH
  fmt::print("  LibTorch was not found when this was built: no comparison with normal_.\n");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  bytes(report);
  exact(report, 10);
  exact(report, 0x1.8p39);
  bulk(report);
  return report.finish();
}
