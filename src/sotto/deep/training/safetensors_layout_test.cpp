#include "sotto/deep/training/safetensors_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::deep::safetensors_layout_test {

using Json = nlohmann::ordered_json;

std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data, 'x');
}

Json entry(const char* type, const Json& shape, const Json& first, const Json& last) {
  return {{"dtype", type}, {"shape", shape}, {"data_offsets", {first, last}}};
}

bool readable(const Json& header, std::size_t data) {
  const std::string bytes = file_of(header.dump(), data);
  try {
    safetensors_layout(bytes, "it");
    return true;
  } catch (const DataError&) {
    return false;
  }
}

TEST(SafetensorsLayout, FindsEachTensor) {
  const std::string bytes = file_of(Json{{"__metadata__", {{"k", "v"}}},
                                         {"b", entry("U8", {2}, 8, 10)},
                                         {"a", entry("F32", {1, 2}, 0, 8)},
                                         {"e", entry("I64", {0, 5}, 10, 10)}}
                                        .dump(),
                                    10);
  const StoredTensors file = safetensors_layout(bytes, "it");
  EXPECT_EQ(file.metadata.at("k"), "v");
  EXPECT_EQ(file.tensors.at("a").bytes.data() - bytes.data(),
            static_cast<std::ptrdiff_t>(bytes.size()) - 10);
  EXPECT_EQ(file.tensors.at("b").elements(), 2U);
  EXPECT_EQ(file.tensors.at("e").bytes.size(), 0U);
}

TEST(SafetensorsLayout, RefusesSizesThatOverflowGapsAndOverlaps) {
  const auto big = std::uint64_t{1} << 40;
  EXPECT_TRUE(readable({{"a", entry("U8", {4}, 0, 4)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("U8", {4}, 0, 4)}}, 5));
  EXPECT_FALSE(readable({{"a", entry("U8", {4}, 1, 5)}}, 5));
  EXPECT_FALSE(readable({{"a", entry("U8", {4}, 0, 4)}, {"b", entry("U8", {4}, 0, 4)}}, 8));
  EXPECT_FALSE(readable({{"a", entry("U8", {big, big, 0}, 0, 0)}}, 0));  // strides would overflow
  EXPECT_FALSE(readable({{"a", entry("F64", {std::uint64_t{1} << 61}, 0, 0)}}, 0));
  EXPECT_FALSE(readable({{"a", entry("U8", {-4}, 0, 4)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("U8", {4.0}, 0, 4)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("U8", 4, 0, 4)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("U8", {4}, 4, 0)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("U8", {4}, 0, 1e300)}}, 4));
  EXPECT_FALSE(readable({{"a", entry("F16", {2}, 0, 4)}}, 4));
  EXPECT_FALSE(readable({{"a", 1}}, 4));
  EXPECT_FALSE(readable(Json::array(), 0));
  EXPECT_THROW(safetensors_layout(file_of(std::string(1'000'000, '['), 0), "it"), DataError);
  EXPECT_THROW(safetensors_layout(file_of("{\"a\":1,\"a\":1}", 0), "it"), DataError);
}

}  // namespace sotto::deep::safetensors_layout_test
