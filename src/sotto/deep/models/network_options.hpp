// Detail: what describes a network, and its JSON (network.json of an artifact). Knows nothing of
// LibTorch.
//
// A description may come from anyone: it has limits, so that whatever passes can be built without a
// size that overflows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::deep {

enum class NetworkKind { softmax, mlp, cnn, sequence };
enum class Activation { tanh, relu, sigmoid, leaky_relu, silu, gelu };

std::string_view name(NetworkKind kind);
NetworkKind parse_network(std::string_view text);  // throws InvalidArgument
std::string_view name(Activation activation);
Activation parse_activation(std::string_view text);  // throws InvalidArgument

// Public: from the schema or the format of the images, never from their content.
struct NetworkOptions {
  NetworkKind kind = NetworkKind::softmax;
  // Shape of one record: {features}, {channels, height, width}, or {places} of a sequence.
  std::vector<std::int64_t> input;
  std::int64_t outputs = 2;               // classes, 1 for a number, or the values of a place
  std::vector<std::int64_t> hidden = {};  // mlp, sequence: widths; empty: {128}
  Activation activation = Activation::tanh;
  std::int64_t context = 0;  // sequence: values before a place that it is predicted from

  // Of checked options.
  std::int64_t features() const;    // numbers in one record
  std::int64_t parameters() const;  // of the network
};

// The cnn: 8×8 stride 2 padding 3, pooling 2 stride 1, 4×4 stride 2, pooling 2 stride 1, a dense
// layer.
inline constexpr std::int64_t kChannels1 = 16, kConvolution1 = 8, kChannels2 = 32,
                              kConvolution2 = 4, kCnnHidden = 32;
constexpr std::int64_t side_after_pooling(std::int64_t side) { return ((side - 2) / 2 - 4) / 2; }

// The sequence: how many numbers stand for a value.
inline constexpr std::int64_t kSequenceWidth = 16;

inline constexpr std::int64_t kMostUnits = std::int64_t{1} << 31;       // of a layer or a record
inline constexpr std::int64_t kMostParameters = std::int64_t{1} << 31;  // 8 GiB of weights
inline constexpr std::size_t kMostLayers = 1000;

// Fills in defaults. Throws InvalidArgument when no network can be like this, or it is too large.
NetworkOptions checked(NetworkOptions options);

nlohmann::ordered_json to_json(const NetworkOptions& options);
// Throws DataError, also when the network cannot be built.
NetworkOptions network_from_json(const nlohmann::ordered_json& json);

}  // namespace sotto::deep
