// Any bytes as an IDX file, plain or gzip: an array as large as its shape says, or a DataError.
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 14) return 0;
  try {
    const IdxArray array = parse_idx({reinterpret_cast<const char*>(data), size}, "it");
    const std::size_t elements = std::accumulate(array.shape.begin(), array.shape.end(),
                                                 std::size_t{1}, std::multiplies<>());
    require(array.values.size() == elements, "the array has the elements of its shape");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
  return 0;
}
