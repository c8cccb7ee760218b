#include "sotto/deep/models/network_options.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/deep/models/network.hpp"

namespace sotto::deep::network_options_test {

using Json = nlohmann::ordered_json;

Json described(const char* kind, const Json& input, const Json& outputs, const Json& hidden) {
  return {{"schema", 1},        {"kind", kind},     {"input", input},
          {"outputs", outputs}, {"hidden", hidden}, {"activation", "tanh"}};
}

Json sequence(int places, int values, int context) {
  Json json = described("sequence", Json::array({places}), values, {5});
  json["context"] = context;
  return json;
}

TEST(NetworkOptions, CountsTheParametersThatAreBuilt) {
  for (const Json& json :
       {described("softmax", {7}, 3, Json::array()), described("mlp", {2, 3}, 1, {5, 4}),
        described("mlp", {9}, 2, Json::array()), described("cnn", {1, 28, 28}, 10, Json::array()),
        described("cnn", {3, 14, 19}, 2, Json::array()), sequence(6, 3, 4)}) {
    const NetworkOptions options = network_from_json(json);
    const Network network(options);
    EXPECT_EQ(static_cast<std::uint64_t>(options.parameters()), count_parameters(*network)) << json;
    std::vector<std::int64_t> batch = {2};
    batch.insert(batch.end(), options.input.begin(), options.input.end());
    const bool tokens = options.kind == NetworkKind::sequence;
    const auto said =
        Network(network)->forward(torch::zeros(batch, tokens ? torch::kLong : torch::kFloat));
    EXPECT_EQ(said.size(-1), options.outputs) << json;
    EXPECT_EQ(said.size(1), tokens ? options.input[0] : options.outputs) << json;
  }
}

TEST(NetworkOptions, RefusesSizesThatOverflowOrCannotBeBuilt) {
  const auto big = std::int64_t{1} << 31;
  const Json none = Json::array();
  for (const Json& json : {described("softmax", {big, big, 4}, 2, none),
                           described("softmax", {big + 1}, 2, none),
                           described("softmax", {big}, big, none),
                           described("mlp", {2}, 2, {big, big}),
                           described("mlp", {2}, 2, Json(std::vector<int>(1001, 1))),
                           described("softmax", {0}, 2, none),
                           described("softmax", {-1}, 2, none),
                           described("softmax", {1.5}, 2, none),
                           described("softmax", {1e300}, 2, none),
                           described("softmax", "7", 2, none),
                           described("softmax", none, 2, none),
                           described("softmax", {7}, 0, none),
                           described("cnn", {1, 13, 28}, 2, none),
                           described("cnn", {28, 28}, 2, none),
                           described("cnn", {big, 14, 14}, 2, none),
                           described("rnn", {7}, 2, none),
                           described("sequence", {7}, 2, none),
                           sequence(6, 3, 7),
                           sequence(6, 3, 0),
                           Json("mlp")})
    EXPECT_THROW(network_from_json(json), DataError) << json;
}

}  // namespace sotto::deep::network_options_test
