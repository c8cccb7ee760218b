#include "sotto/learning/artifact.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/learning/class_weights.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEncoder = "encoder.json";

// Certificates of the first versions named no family. There were two.
std::string family_by_files(bool has_tensors) { return has_tensors ? "network" : "linear"; }

// Other files may have any number of rows: the declared number is that of the training data.
Facts facts_of(const CertifiedDirectory& place, const std::string& directory) {
  const auto file = place.files.find(kEncoder);
  if (file == place.files.end()) {
    Facts facts;
    if (place.certificate.spec) facts.relation = place.certificate.spec->relation;
    return facts;
  }
  Schema schema =
      encoder_from_json(parse_json(file->second, fmt::format("'{}/{}'", directory, kEncoder)))
          .schema();
  schema.rows.reset();
  return table_facts(std::move(schema));
}

std::unique_ptr<Model> weighted_or_damaged(std::unique_ptr<Model> model,
                                           const std::vector<double>& weights,
                                           const std::string& directory) {
  try {
    return weighted(std::move(model), weights);
  } catch (const InvalidArgument& error) {
    throw DataError(fmt::format("'{}/{}': {}", directory, kClassWeightsFile, error.what()));
  }
}

}  // namespace

Files artifact_files(const TrainedModel& trained, const Facts& facts) {
  Files files = trained.value()->files();
  if (facts.encoder) files[kEncoder] = to_json(*facts.encoder).dump(1) + "\n";
  return files;
}

void write_artifact(const std::string& directory, const TrainedModel& trained, const Facts& facts,
                    Certificate certificate, const std::string& signing_key) {
  const bool matches = trained.event() ? certificate.spec && certificate.spec->events ==
                                                                 std::vector{*trained.event()}
                                       : !certificate.spec;
  if (!matches) invariant_broken("a certificate about another model");
  write_certified(directory, artifact_files(trained, facts), std::move(certificate), signing_key);
}

Artifact read_artifact(const std::string& directory, std::span<const Family> families) {
  CertifiedDirectory place = read_certified(directory);
  Artifact artifact;
  const std::string name = place.certificate.family.empty()
                               ? family_by_files(place.files.contains("model.safetensors"))
                               : place.certificate.family;
  artifact.family = find_family(families, name);
  if (artifact.family == nullptr) {
    throw Unsupported(fmt::format("'{}' holds a model of the family '{}', which is not known here",
                                  directory, name),
                      "use the version of sotto that wrote it, or a newer one");
  }
  if (artifact.family->load == nullptr) {
    throw NotBuilt(fmt::format("'{}' holds a model of the family '{}', which {} reads", directory,
                               name, artifact.family->host));
  }
  artifact.facts = facts_of(place, directory);
  place.files.erase(kEncoder);
  std::optional<std::vector<double>> weights;
  if (const auto file = place.files.find(kClassWeightsFile); file != place.files.end()) {
    weights = read_class_weights(file->second);
    place.files.erase(file);
  }
  artifact.model = artifact.family->load(place.files, artifact.facts);
  if (weights) artifact.model = weighted_or_damaged(std::move(artifact.model), *weights, directory);
  artifact.certificate = std::move(place.certificate);
  return artifact;
}

std::string family_of_artifact(const std::string& directory) {
  std::error_code ignored;
  const fs::path place = directory;
  try {
    const auto json = parse_json(read_whole_file(place / "certificate.json", kMostCertificateBytes),
                                 "the certificate");
    if (json.is_object() && json.contains("family") && json["family"].is_string())
      return json["family"].get<std::string>();
  } catch (const DataError&) {  // whoever reads the artifact in earnest says what is wrong
  }
  if (fs::exists(place / "model.safetensors", ignored)) return family_by_files(true);
  return fs::exists(place / "model.json", ignored) ? family_by_files(false) : "";
}

}  // namespace sotto
