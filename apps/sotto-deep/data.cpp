#include "data.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "commands/model_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/idx.hpp"
#include "sotto/data/source_error.hpp"
#include "sotto/data/table.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/models/linear/method_choice.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kImagesOfMnist = 60000;

bool is_image_folder(const Arguments& arguments) {
  std::error_code ignored;
  return fs::is_directory(arguments.text("data"), ignored) || !arguments.given("schema");
}

std::vector<std::int64_t> image_shape(const Arguments& arguments) {
  std::vector<std::int64_t> shape;
  const std::string text = arguments.text("image");
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    try {
      shape.push_back(std::stoll(text.substr(at, end - at)));
    } catch (const std::exception&) {
      shape.push_back(0);
    }
    at = end + 1;
  }
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    throw InvalidArgument(fmt::format("--image is '{}'; it must be height x width", text),
                          "e.g. --image 28x28");
  return {1, shape[0], shape[1]};
}

fs::path idx_file(const std::string& folder, const std::string& part, const std::string& kind) {
  const std::string digits = kind == "images" ? "idx3" : "idx1";
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      const fs::path path =
          fs::path(folder) / (part + "-" + kind + separator + digits + "-ubyte" + ending);
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
    }
  }
  throw SourceError(
      fmt::format("'{}' holds no {}-{}-{}-ubyte, plain or .gz", folder, part, kind, digits),
      "a folder of images holds the four IDX files of MNIST and its relatives");
}

// One label for each image. A label that is not one of the declared classes counts for nothing: whether there is one is private.
torch::Tensor image_labels(const fs::path& path, std::int64_t images, std::int64_t classes) {
  const IdxArray labels = read_idx(path.string());
  if (labels.shape.size() != 1 || static_cast<std::int64_t>(labels.shape[0]) != images)
    throw DataError(fmt::format("'{}' has not one label for each image", path.string()));
  auto targets = torch::empty({images}, torch::kLong);
  for (std::int64_t i = 0; i < images; ++i) {
    const std::int64_t label = labels.values[static_cast<std::size_t>(i)];
    targets.data_ptr<std::int64_t>()[i] = label < classes ? label : deep::kNoIgnoredIndex;
  }
  return targets;
}

DeepFacts table_facts(const Arguments& arguments) {
  DeepFacts facts;
  Schema wanted = schema_of(arguments);
  const ColumnSchema* target = wanted.target();
  const bool number = target != nullptr && target->type == ColumnType::numeric;
  // The public rule of linear models: what bends is easier to learn from hat functions.
  facts.encoder = std::make_shared<const Encoder>(
      with_basis(std::move(wanted), number ? LinearKind::linear : LinearKind::logistic,
                 Method::gradient, std::nullopt));
  const Schema& schema = facts.encoder->schema();
  if (schema.unit == Unit::user && schema.max_contributions != 1)
    throw Unsupported(fmt::format("networks take one record of a user, the schema allows {}",
                                  schema.max_contributions),
                      "set max_contributions = 1");
  if (!schema.rows)
    throw DataError("the schema declares no number of rows",
                    "add rows = N at its top: a public number, used as divisor; it need not be "
                    "exact under add_remove");
  facts.rows = *schema.rows;
  facts.relation = schema.relation;
  facts.unit = name(schema.unit);
  facts.classification = facts.encoder->is_classification();
  facts.network.input = {static_cast<std::int64_t>(facts.encoder->width())};
  facts.network.outputs =
      facts.classification ? static_cast<std::int64_t>(facts.encoder->target().labels().size()) : 1;
  if (facts.classification && facts.network.outputs < 2)
    throw DataError("the target has fewer than two declared classes",
                    "declare all classes in the schema");
  return facts;
}

DeepFacts image_facts(const Arguments& arguments) {
  DeepFacts facts;
  facts.rows = arguments.given("rows") ? arguments.whole("rows") : kImagesOfMnist;
  facts.relation = parse_relation(arguments.text("relation"));
  facts.network.input = image_shape(arguments);
  facts.network.outputs = static_cast<std::int64_t>(arguments.whole("classes"));
  return facts;
}

}  // namespace

deep::Records image_records(const std::string& folder, const std::string& part,
                            const deep::NetworkOptions& network, bool with_targets) {
  const fs::path image_path = idx_file(folder, part, "images");
  const IdxArray images = read_idx(image_path.string());
  if (images.shape.size() != 3 || static_cast<std::int64_t>(images.shape[1]) != network.input[1] ||
      static_cast<std::int64_t>(images.shape[2]) != network.input[2])
    throw DataError(fmt::format("the images in '{}' are not of the declared size {}x{}",
                                image_path.string(), network.input[1], network.input[2]),
                    "declare their size with --image HEIGHTxWIDTH");
  const auto n = static_cast<std::int64_t>(images.shape[0]);
  auto inputs = torch::empty({n, 1, network.input[1], network.input[2]}, torch::kByte);
  std::memcpy(inputs.data_ptr(), images.values.data(), images.values.size());
  return {inputs, with_targets ? image_labels(idx_file(folder, part, "labels"), n, network.outputs)
                               : torch::zeros({n}, torch::kLong)};
}

deep::Records table_records(const Table& table, bool classification, bool with_targets) {
  const auto n = static_cast<std::int64_t>(table.rows()),
             width = static_cast<std::int64_t>(table.width());
  auto inputs = torch::empty({n, width}, torch::kFloat);
  std::vector<double> row(table.width());
  for (std::int64_t i = 0; i < n; ++i) {
    table.row(static_cast<std::size_t>(i), row);
    float* out = inputs.data_ptr<float>() + i * width;
    for (std::size_t j = 0; j < row.size(); ++j) out[j] = static_cast<float>(row[j]);
  }
  auto targets = torch::zeros({n}, classification ? torch::kLong : torch::kFloat);
  for (std::int64_t i = 0; with_targets && i < n; ++i) {
    const double target = table.targets()[static_cast<std::size_t>(i)];
    if (classification)
      targets.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(target);
    else
      targets.data_ptr<float>()[i] = static_cast<float>(target);
  }
  return {inputs, targets};
}

DeepFacts training_facts(const Arguments& arguments) {
  const bool images = is_image_folder(arguments);
  if (images && arguments.given("schema"))
    throw InvalidArgument("a folder of images needs no --schema",
                          "declare --rows and --classes instead");
  DeepFacts facts = images ? image_facts(arguments) : table_facts(arguments);
  facts.network.kind = deep::parse_network(arguments.text("model"));
  facts.network.activation = deep::parse_activation(arguments.text("activation"));
  if (arguments.given("hidden")) {
    for (const std::string& width : arguments.list("hidden")) {
      char* end = nullptr;
      const long long value = std::strtoll(width.c_str(), &end, 10);
      if (*end != '\0' || value < 1)
        throw InvalidArgument(
            fmt::format("--hidden has '{}'; widths are whole numbers from 1", width));
      facts.network.hidden.push_back(value);
    }
  }
  return facts;
}

deep::Records no_records(const DeepFacts& facts) {
  std::vector<std::int64_t> shape = facts.network.input;
  shape.insert(shape.begin(), 0);
  return {torch::zeros(shape, facts.encoder ? torch::kFloat : torch::kByte),
          torch::zeros({0}, facts.classification ? torch::kLong : torch::kFloat)};
}

deep::Records training_records(const Arguments& arguments, const DeepFacts& facts) {
  if (!facts.encoder) return image_records(arguments.text("data"), "train", facts.network, true);
  const Table table = load_table(arguments.text("data"), *facts.encoder,
                                 table_options(arguments, facts.encoder->schema()));
  return table_records(table, facts.classification, true);
}

torch::Tensor losses_of(bool classification, const torch::Tensor& outputs,
                        const torch::Tensor& targets) {
  return classification ? deep::softmax_cross_entropy(outputs, targets)
                        : deep::squared_loss(outputs.squeeze(1), targets);
}

}  // namespace sotto::cli
