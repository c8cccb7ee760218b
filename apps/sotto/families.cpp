#include "families.hpp"

#include <algorithm>

#include "options/arguments.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/family/declaration.hpp"
#include "sotto/learning/pipeline.hpp"
#include "sotto/models/additive/additive_family.hpp"
#include "sotto/models/boosting/boosting_family.hpp"
#include "sotto/models/forest/forest_family.hpp"
#include "sotto/models/kernel/kernel_family.hpp"
#include "sotto/models/kmeans/kmeans_family.hpp"
#include "sotto/models/linear/linear_family.hpp"
#include "sotto/models/naive_bayes/naive_bayes_family.hpp"
#include "sotto/models/pca/pca_family.hpp"
#include "sotto/models/preprocess/preprocess_family.hpp"
#include "sotto/models/synthesis/input_route.hpp"
#include "sotto/models/synthesis/synthesis_family.hpp"
#include "sotto/models/tree/tree_family.hpp"

namespace sotto::cli {
namespace {

constexpr const char* kAutomatic = "auto";

// Any trainer may use synthetic records.
std::vector<Family> trained_on_input(std::vector<Family> all) {
  for (Family& family : all)
    if (family.host == Family{}.host) family = with_input(std::move(family));
  return all;
}

std::vector<Family>& list() {
  // A new family is one line here, and one in its module's CMakeLists.txt.
  static std::vector<Family> all = trained_on_input({
      linear_family(),
      naive_bayes_family(),
      tree_family(),
      forest_family(),
      boosting_family(),
      additive_family(),
      kernel_family(),
      synthesis_family(),
      deep::network_declaration(),
      kmeans_family(),
      pca_family(),
      preprocess_family(),
      pipeline_family([] { return std::span<const Family>(families()); }),
  });
  return all;
}

Option method_option(const Family& family) {
  Option option{.name = "method",
                .type = Type::choice,
                .value = "M",
                .help = "the route to privacy",
                .fallback = family.methods.front().name};
  for (const Method& method : family.methods) option.choices.push_back(method.name);
  if (option.fallback == "auto") option.help += "; auto chooses by public facts";
  return option;
}

std::vector<Option> image_options() {
  return {{.name = "rows",
           .type = Type::whole,
           .value = "N",
           .help = "declared number of images, a public figure; default 60000, as in MNIST and its "
                   "relatives",
           .range = Range::from(1)},
          {.name = "classes",
           .type = Type::whole,
           .value = "K",
           .help = "declared number of classes of images",
           .fallback = "10",
           .range = Range::from(2)},
          {.name = "image",
           .type = Type::text,
           .value = "HxW",
           .help = "declared size of images",
           .fallback = "28x28"},
          {.name = "relation",
           .type = Type::choice,
           .value = "R",
           .help = "which image sets are neighbours; tables have it in their schema",
           .fallback = "add_remove",
           .choices = {"add_remove", "replace_one", "zero_out"}}};
}

std::vector<Option> checkpoint_options() {
  return {
      {.name = "checkpoint",
       .type = Type::file,
       .value = "FILE",
       .help = "where the state of the run is kept; default: --out with .checkpoint"},
      {.name = "checkpoint-seconds",
       .type = Type::number,
       .value = "S",
       .help = "how often it is written",
       .fallback = "60",
       .range = Range::from(0)},
      {.name = "resume",
       .type = Type::flag,
       .help = "go on from the checkpoint; the options must be those of the first call"},
  };
}

// Many models are compared by how well they predict: those that predict nothing are left out.
bool offered(const Kind& kind, bool many) {
  return !many || std::any_of(kind.tasks.begin(), kind.tasks.end(), is_supervised);
}

std::vector<Option> variant_options(const Family& family, const Kind& kind, bool many) {
  std::vector<Option> options;
  const auto add = [&](std::vector<Option> more) {
    for (Option& option : more) {
      if (many && option.one_run) continue;
      option = as_typed(std::move(option));
      option.group = family.title;
      options.push_back(std::move(option));
    }
  };
  if (!many) add({method_option(family)});
  add(options_of(family, kind.name));
  if (family.reads_images) add(image_options());
  if (family.resumable && !many) add(checkpoint_options());
  return options;
}

}  // namespace

const std::vector<Family>& families() { return list(); }

void host(Family family) {
  for (Family& declared : list()) {
    if (declared.name != family.name) continue;
    declared = std::move(family);
    return;
  }
}

const Family& family_named(const Arguments& arguments) {
  const Family* family = family_of_kind(families(), arguments.text("model"));
  if (family == nullptr) invariant_broken("a kind of no family");
  return *family;
}

bool is_automatic(const Arguments& arguments) { return arguments.text("model") == kAutomatic; }

Option kind_option(bool many) {
  Option option{.name = "model",
                .type = Type::choice,
                .value = "KIND",
                .help = "what to fit; default logistic, or linear for a number",
                .fallback = families().front().kinds.front().name};
  for (const Family& family : families())
    for (const Kind& kind : family.kinds)
      if (offered(kind, many)) option.choices.push_back(kind.name);
  if (!many) option.choices.push_back(kAutomatic);
  return option;
}

Option kind_option(Task task) {
  Option option{.name = "model",
                .type = Type::choice,
                .value = "KIND",
                .help = "what to fit",
                .required = true};
  for (const Family& family : families())
    for (const Kind& kind : family.kinds)
      if (kind.tasks == std::vector{task}) option.choices.push_back(kind.name);
  return option;
}

std::vector<Variant> kind_variants(Task task) {
  std::vector<Variant> variants;
  for (const Family& family : families())
    for (const Kind& kind : family.kinds)
      if (kind.tasks == std::vector{task})
        variants.push_back({.value = kind.name,
                            .title = family.title,
                            .help = kind.help,
                            .options = variant_options(family, kind, true)});
  return variants;
}

std::vector<Variant> kind_variants(bool many) {
  std::vector<Variant> variants;
  for (const Family& family : families()) {
    for (const Kind& kind : family.kinds)
      if (offered(kind, many))
        variants.push_back({.value = kind.name,
                            .title = family.title,
                            .help = kind.help,
                            .options = variant_options(family, kind, many)});
  }
  if (!many)
    variants.push_back({.value = kAutomatic,
                        .title = "Whichever suits",
                        .help = "chosen by public facts: rows, columns, target and budget",
                        .options = {}});
  return variants;
}

}  // namespace sotto::cli
