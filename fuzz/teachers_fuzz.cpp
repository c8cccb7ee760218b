// Any text as teachers.json, the list of a directory of teachers: one that is written and read back
// the same, or an error of the input.
#include <cstdint>
#include <string_view>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/pate/teacher_store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 16) return 0;
  try {
    const auto catalogue = pate::catalogue_from_text({reinterpret_cast<const char*>(data), size});
    require(catalogue.teachers > 0 && catalogue.facts.encoder != nullptr, "it is whole");
    const std::string text = pate::catalogue_text(catalogue);
    require(pate::catalogue_text(pate::catalogue_from_text(text)) == text,
            "it reads back the same");
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal, "no internal error");
  }
  return 0;
}
