// sotto features: public functions of images, fitted on public images, as tables of numbers.
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "pate.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/data/idx.hpp"
#include "sotto/data/matrix_table.hpp"
#include "sotto/data/npy.hpp"
#include "sotto/features/kernel_components.hpp"
#include "sotto/features/principal.hpp"
#include "sotto/features/scattering.hpp"
#include "sotto/features/upright.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
using features::KernelComponents;
using features::Points;
using features::PublicComponents;
using features::Scattering;
namespace fs = std::filesystem;

constexpr std::size_t kMostDegree = 8;
constexpr std::size_t kBlock = 4096;  // images whose scattering is in memory at a time

IdxArray read_images(const std::string& path) {
  IdxArray images = read_idx(path);
  if (images.shape.size() != 3 || images.shape[1] != images.shape[2] || images.shape[0] == 0)
    throw DataError(fmt::format("'{}' holds no square images", path), "an IDX file of images");
  return images;
}

NpyArray array_of(const std::vector<float>& values, std::size_t rows) {
  return {{rows, values.size() / rows}, {values.begin(), values.end()}};
}

std::vector<float> floats(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 26;
  const NpyArray array = read_npy(path, {.max_elements = kMost});
  return {array.values.begin(), array.values.end()};
}

void make_upright(IdxArray& images) {
  images.values = features::upright(images.values, images.shape[1]);
}

void run_fit(const Arguments& arguments, Context& context) {
  const std::string out = arguments.text("out");
  check_artifact_place(out);
  const std::size_t components = arguments.whole("components");
  const auto degree = static_cast<unsigned>(arguments.whole("degree"));
  for (const char* option : {"factors", "landmarks"})
    if (degree == 1 && arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is for --degree 2 or more", option));
  IdxArray images = read_images(arguments.text("public"));
  const Scattering scattering(images.shape[1]);
  if (arguments.flag("upright")) make_upright(images);
  const Points scattered = scattering.apply(images.values);
  const PublicComponents fitted = PublicComponents::fit(
      scattered, degree == 1 ? components : arguments.whole("factors"), scattering.channel());
  std::optional<KernelComponents> products;
  if (degree > 1)
    products = KernelComponents::fit(fitted.apply(scattered), components,
                                     arguments.whole("landmarks"), degree);
  MatrixFacts facts{.bounds = std::vector<Bounds>(components, Bounds(-1, 1)),
                    .classes = arguments.whole("classes"),
                    .relation = arguments.given("relation")
                                    ? parse_relation(arguments.text("relation"))
                                    : Relation::add_remove,
                    .rows = arguments.given("rows") ? arguments.whole("rows") : 0};
  Schema schema = matrix_schema(facts);
  schema.basis = NumericBasis::linear;
  if (!fs::create_directory(out) && !fs::is_directory(out))
    throw StorageError(fmt::format("cannot make '{}'", out));
  const fs::path place(out);
  const auto& parts = fitted.parts();
  write_npy((place / "mean.npy").string(), array_of(parts.mean, 1));
  write_npy((place / "scale.npy").string(), array_of(parts.inverse_deviation, 1));
  write_npy((place / "directions.npy").string(), array_of(parts.directions, fitted.inputs()));
  write_file((place / "schema.toml").string(), schema.to_toml());
  if (products) {
    const auto& p = products->parts();
    write_npy((place / "landmarks.npy").string(), array_of(p.landmarks.values, p.landmarks.rows()));
    write_npy((place / "projection.npy").string(), array_of(p.projection, p.landmarks.rows()));
    write_npy((place / "centre.npy").string(), array_of(p.centre, 1));
  }
  write_file((place / "features.json").string(), Json{{"schema", 1},
                                                      {"features", "scattering"},
                                                      {"side", scattering.side()},
                                                      {"upright", arguments.flag("upright")},
                                                      {"degree", degree},
                                                      {"components", components}}
                                                         .dump(2) +
                                                     "\n");
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n",
        Json{{"schema", 1}, {"images", images.shape[0]}, {"components", components}, {"out", out}}
            .dump());
  } else {
    context.out.print("{} components of the scattering of {} public images in {}\n", components,
                      images.shape[0], context.bold(out));
  }
}

KernelComponents products_in(const fs::path& place, unsigned degree, std::size_t factors) {
  return KernelComponents(
      {.degree = degree,
       .landmarks = {.width = factors, .values = floats((place / "landmarks.npy").string())},
       .projection = floats((place / "projection.npy").string()),
       .centre = floats((place / "centre.npy").string())});
}

void run_apply(const Arguments& arguments, Context& context) {
  const fs::path place(arguments.text("features"));
  const std::string list = (place / "features.json").string();
  const Json json = parse_json(read_whole_file(list, 1 << 20), list);
  const Scattering scattering(json_count(json.value("side", Json()), "side", 64));
  const PublicComponents fitted({.mean = floats((place / "mean.npy").string()),
                                 .inverse_deviation = floats((place / "scale.npy").string()),
                                 .directions = floats((place / "directions.npy").string())});
  const auto degree =
      static_cast<unsigned>(json_count(json.value("degree", Json(1)), "degree", kMostDegree));
  std::optional<KernelComponents> products;
  if (degree > 1) products.emplace(products_in(place, degree, fitted.components()));
  IdxArray images = read_images(arguments.text("images"));
  if (images.shape[1] != scattering.side() || fitted.inputs() != scattering.width())
    throw DataError("the features are of images of another size");
  if (json.value("upright", Json(false)) == true) make_upright(images);
  const std::size_t rows = images.shape[0], size = images.shape[1] * images.shape[2];
  std::vector<std::uint8_t> labels;
  if (arguments.given("labels")) {
    IdxArray read = read_idx(arguments.text("labels"));
    if (read.shape.size() != 1 || read.shape[0] != rows)
      throw DataError("there is not one label for each image");
    labels = std::move(read.values);
  }
  const std::size_t width =
      (products ? products->components() : fitted.components()) + (labels.empty() ? 0 : 1);
  NpyArray array{{rows, width}, std::vector<double>(rows * width)};
  Progress progress(context.progress("scattering", rows));
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, rows - first);
    Points points = fitted.apply(
        scattering.apply(std::span(images.values).subspan(first * size, count * size)));
    if (products) points = products->apply(points);
    for (std::size_t i = 0; i < count; ++i) {
      double* const row = array.values.data() + (first + i) * width;
      std::copy(points.row(i).begin(), points.row(i).end(), row);
      if (!labels.empty()) row[width - 1] = labels[first + i];
    }
    progress.advance(first + count);
  }
  progress.finish();
  // Of private images it is as private as they are.
  const std::string out = arguments.text("out");
  const mode_t mask = ::umask(0077);
  try {
    write_npy(out, array);
  } catch (...) {
    ::umask(mask);
    throw;
  }
  ::umask(mask);
  if (arguments.flag("json")) {
    context.out.print("{}\n",
                      Json{{"schema", 1}, {"rows", rows}, {"columns", width}, {"out", out}}.dump());
  } else {
    context.out.print("{} rows of {} numbers in {}\n  as private as the images are\n", rows, width,
                      context.bold(out));
  }
}

}  // namespace

Command features_command() {
  Command fit{
      .name = "fit",
      .summary = "find components of public images",
      .description =
          "Takes the scattering transform of public images, standardises its channels "
          "and keeps their first principal components. Also writes schema.toml, which "
          "declares tables of such features.",
      .examples = {{"Sixteen components of public images",
                    "sotto features fit --public digits-images.idx --components 16 --out digits"},
                   {"Handwriting made upright, and products of features",
                    "sotto features fit --public digits-images.idx --upright --degree 2 --factors "
                    "20 --components 30 --out quadratic"}},
      .options = {{.name = "public",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "IDX file of square grey images that need no protection",
                   .required = true},
                  {.name = "components",
                   .type = Type::whole,
                   .value = "N",
                   .help = "how many numbers an image becomes",
                   .fallback = "300",
                   .range = Range::between(1, 4000)},
                  {.name = "upright",
                   .type = Type::flag,
                   .help = "first move what an image shows to its middle, make it upright and of "
                           "one size: for handwriting"},
                  {.name = "degree",
                   .type = Type::whole,
                   .value = "P",
                   .help = "components of products of so many features: what is linear in them is "
                           "a polynomial of degree P in the image's features",
                   .fallback = "1",
                   .range = Range::between(1, kMostDegree)},
                  {.name = "factors",
                   .type = Type::whole,
                   .value = "N",
                   .help = "of --degree: how many principal components are multiplied",
                   .fallback = "300",
                   .range = Range::between(1, 4000)},
                  {.name = "landmarks",
                   .type = Type::whole,
                   .value = "N",
                   .help = "of --degree: how many public images products are compared with",
                   .fallback = "1500",
                   .range = Range::between(1, 20000)},
                  {.name = "classes",
                   .type = Type::whole,
                   .value = "K",
                   .help = "declared number of classes, for schema.toml",
                   .fallback = "10",
                   .range = Range::from(2)},
                  {.name = "rows",
                   .type = Type::whole,
                   .value = "N",
                   .help = "declared number of private images, for schema.toml",
                   .range = Range::from(1)},
                  relation_option(),
                  {.name = "out",
                   .type = Type::file,
                   .value = "DIR",
                   .help = "directory for the components",
                   .required = true},
                  json_option(),
                  output_option()},
      .run = run_fit};
  Command apply{
      .name = "apply",
      .summary = "turn images into a table of features",
      .description =
          "One row for each image, each row of length 1, so that every number lies in "
          "[-1, 1]. A public function of one image: neighbours stay neighbours.",
      .examples = {{"A table of features and labels",
                    "sotto features fit --public digits-images.idx --components 12 --out basis && "
                    "sotto features apply --features basis --images digits-images.idx --labels "
                    "digits-labels.idx --out digits.npy"}},
      .options = {{.name = "features",
                   .type = Type::file,
                   .value = "DIR",
                   .help = "what sotto features fit wrote",
                   .required = true},
                  {.name = "images",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "IDX file of images",
                   .required = true},
                  {.name = "labels",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "IDX file of their classes, which become the last column"},
                  {.name = "out",
                   .type = Type::file,
                   .value = "FILE",
                   .help = "where the .npy array goes; only its owner may read it",
                   .required = true},
                  json_option(),
                  output_option()},
      .run = run_apply};
  return {.name = "features",
          .summary = "turn images into tables, by functions fitted on public images",
          .description =
              "Features that cost nothing: they are fitted on public images only, and "
              "applied to private ones image by image. Any command that reads a table "
              "can use them.",
          .examples = {{"Components of public images",
                        "sotto features fit --public digits-images.idx --components 16 --out "
                        "components"}},
          .commands = {std::move(fit), std::move(apply)}};
}

}  // namespace sotto::cli
