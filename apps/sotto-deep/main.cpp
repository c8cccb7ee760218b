// sotto-deep: what `sotto` hands over because it needs LibTorch. Arguments have been checked by the command's option table already.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench_dpsgd.hpp"
#include "sotto/core/error.hpp"

namespace {

int run(const std::vector<std::string>& words) {
  if (words.size() >= 2 && words[0] == "bench" && words[1] == "dpsgd")
    return sotto::deep::bench_dpsgd({words.begin() + 2, words.end()});
  throw sotto::InvalidArgument("sotto-deep is run by sotto and knows: bench dpsgd",
                               "see sotto --help");
}

}  // namespace

int main(int count, char** values) {
  try {
    return run({values + 1, values + count});
  } catch (const sotto::Error& error) {
    fmt::print(stderr, "sotto: {}\n", error.what());
    if (!error.hint().empty()) fmt::print(stderr, "  {}\n", error.hint());
    return sotto::exit_code(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "sotto: {}\n", error.what());
    return sotto::exit_code(sotto::ErrorCode::internal);
  }
}
