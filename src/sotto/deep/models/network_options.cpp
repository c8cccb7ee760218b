#include "sotto/deep/models/network_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::deep {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"softmax", "mlp", "cnn", "sequence"};
constexpr std::array<std::string_view, 6> kActivations = {"tanh",       "relu", "sigmoid",
                                                          "leaky_relu", "silu", "gelu"};

void check_extents(const NetworkOptions& options) {
  for (const auto* list : {&options.input, &options.hidden}) {
    if (list->size() > kMostLayers)
      throw InvalidArgument(fmt::format("the network has {} layers or axes; at most {} are allowed",
                                        list->size(), kMostLayers));
    for (const std::int64_t extent : *list)
      if (extent < 1 || extent > kMostUnits)
        throw InvalidArgument(fmt::format("a layer has {} units; it needs at least 1, at most {}",
                                          extent, kMostUnits));
  }
  if (options.input.empty()) throw InvalidArgument("the network has no input shape");
  if (options.outputs < 1 || options.outputs > kMostUnits)
    throw InvalidArgument(fmt::format("the network has {} outputs; it needs at least 1, at most {}",
                                      options.outputs, kMostUnits));
}

void check_images(const NetworkOptions& options) {
  if (options.input.size() != 3)
    throw InvalidArgument(
        fmt::format(
            "the model cnn takes images (channels, height, width), not records of shape ({})",
            fmt::join(options.input, ", ")),
        "use the model mlp for tables");
  // Two convolutions and two poolings leave something of it.
  constexpr std::int64_t kSmallest = 14;
  if (options.input[1] < kSmallest || options.input[2] < kSmallest)
    throw InvalidArgument(fmt::format("images of {}x{} are too small for the model cnn",
                                      options.input[1], options.input[2]),
                          "use the model mlp");
}

void check_sequence(const NetworkOptions& options) {
  if (options.input.size() != 1)
    throw InvalidArgument("the model sequence takes rows of values", "use the model mlp or cnn");
  if (options.context < 1 || options.context > options.input[0])
    throw InvalidArgument(
        fmt::format("a place of the sequence is predicted from {} others; it "
                    "must be from 1 to {}",
                    options.context, options.input[0]));
}

void check_count(std::int64_t parameters) {
  if (parameters > kMostParameters)
    throw InvalidArgument(fmt::format("the network has more than {} parameters", kMostParameters),
                          "use smaller layers");
}

std::vector<std::int64_t> extents(const nlohmann::ordered_json& json, const std::string& what) {
  if (!json.is_array() || json.size() > kMostLayers)
    throw DataError(fmt::format("{} must be a list of at most {} numbers", what, kMostLayers));
  std::vector<std::int64_t> result;
  for (const auto& n : json)
    result.push_back(static_cast<std::int64_t>(json_count(n, what, kMostUnits)));
  return result;
}

}  // namespace

std::string_view name(NetworkKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
NetworkKind parse_network(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == text) return static_cast<NetworkKind>(i);
  throw InvalidArgument(fmt::format("'{}' is not a network", text),
                        "choose softmax, mlp, cnn or sequence");
}
std::string_view name(Activation activation) {
  return kActivations[static_cast<std::size_t>(activation)];
}
Activation parse_activation(std::string_view text) {
  for (std::size_t i = 0; i < kActivations.size(); ++i)
    if (kActivations[i] == text) return static_cast<Activation>(i);
  throw InvalidArgument(fmt::format("'{}' is not an activation", text),
                        "choose tanh, relu, sigmoid, leaky_relu, silu or gelu");
}

std::int64_t NetworkOptions::parameters() const {
  std::int64_t total = 0, width = 1;  // no product of two numbers up to 2^31 overflows
  const auto layer = [&](std::int64_t from, std::int64_t to) {
    check_count((from + 1) * to);
    check_count(total += (from + 1) * to);
    width = to;
  };
  for (const std::int64_t extent : input) check_count(width *= extent);
  if (kind == NetworkKind::cnn) {
    layer(input[0] * kConvolution1 * kConvolution1, kChannels1);
    layer(kChannels1 * kConvolution2 * kConvolution2, kChannels2);
    layer(kChannels2 * side_after_pooling(input[1]) * side_after_pooling(input[2]), kCnnHidden);
  }
  if (kind == NetworkKind::sequence) {
    check_count((outputs + 1) * kSequenceWidth);
    total = (outputs + 1) * kSequenceWidth;
    check_count(width = context * kSequenceWidth);
  }
  if (kind == NetworkKind::mlp || kind == NetworkKind::sequence)
    for (const std::int64_t units : hidden) layer(width, units);
  layer(width, outputs);
  return total;
}

std::int64_t NetworkOptions::features() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : input) n *= extent;
  return n;
}

NetworkOptions checked(NetworkOptions options) {
  check_extents(options);
  const bool dense = options.kind == NetworkKind::mlp || options.kind == NetworkKind::sequence;
  if (dense && options.hidden.empty()) options.hidden = {128};
  if (options.kind == NetworkKind::cnn) check_images(options);
  if (options.kind == NetworkKind::sequence) check_sequence(options);
  (void)options.parameters();  // throws when there are too many
  return options;
}

nlohmann::ordered_json to_json(const NetworkOptions& options) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"kind", name(options.kind)},
                                 {"input", options.input},
                                 {"outputs", options.outputs},
                                 {"hidden", options.hidden},
                                 {"activation", name(options.activation)}};
  if (options.kind == NetworkKind::sequence) json["context"] = options.context;
  return json;
}

NetworkOptions network_from_json(const nlohmann::ordered_json& json) {
  try {
    return checked({.kind = parse_network(json.at("kind").get<std::string>()),
                    .input = extents(json.at("input"), "the network's input"),
                    .outputs = static_cast<std::int64_t>(
                        json_count(json.at("outputs"), "the network's outputs", kMostUnits)),
                    .hidden = extents(json.at("hidden"), "the network's hidden"),
                    .activation = parse_activation(json.at("activation").get<std::string>()),
                    .context = json.contains("context")
                                   ? static_cast<std::int64_t>(json_count(
                                         json.at("context"), "the network's context", kMostUnits))
                                   : 0});
  } catch (const nlohmann::json::exception&) {
    throw DataError("the description of the network lacks a field or has one of the wrong type");
  } catch (const InvalidArgument& e) {
    throw DataError(e.what(), e.hint());
  }
}

}  // namespace sotto::deep
