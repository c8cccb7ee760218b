#include "sotto/pate/teacher_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/learning/certify.hpp"

namespace sotto::pate {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMostTeachers = 1'000'000;
constexpr const char* kNotice =
    "NOT PRIVATE: models in this directory were trained on private records without noise.\n"
    "Publish labels (sotto pate label) and students (sotto pate student), never a teacher.\n";

Json to_json(const TeacherCatalogue& c) {
  return {{"schema", 1},
          {"warning", "NOT PRIVATE"},
          {"teachers", c.teachers},
          {"family", c.family},
          {"model", c.kind},
          {"options", c.options},
          {"unit", name(c.facts.unit)},
          {"relation", name(c.facts.relation)},
          {"encoder", to_json(*c.facts.encoder)},
          {"key", c.key},
          {"records", c.records}};
}

TeacherCatalogue catalogue_from(const Json& json) {
  try {
    TeacherCatalogue c;
    if (json.at("schema") != 1) throw DataError("another version wrote it");
    c.teachers = json_count(json.at("teachers"), "the number of teachers", kMostTeachers);
    if (c.teachers == 0) throw DataError("no number of teachers");
    c.family = json.at("family").get<std::string>();
    c.kind = json.at("model").get<std::string>();
    c.options = json.at("options");
    c.key = json.at("key").get<std::string>();
    c.records = json.at("records").get<std::string>();
    c.facts.encoder = std::make_shared<const Encoder>(encoder_from_json(json.at("encoder")));
    const Schema& schema = c.facts.encoder->schema();
    c.facts.relation = schema.relation;
    c.facts.rows = schema.rows;
    c.facts.unit = schema.unit;
    c.facts.contributions = schema.max_contributions;
    return c;
  } catch (const nlohmann::json::exception&) {
    throw DataError("teachers.json is damaged", "train the teachers again");
  }
}

// What two requests must have in common to be the same.
Json identity(const TeacherCatalogue& c) {
  Json json = to_json(c);
  json.erase("key");
  json.erase("records");
  return json;
}

}  // namespace

std::string catalogue_text(const TeacherCatalogue& catalogue) {
  return to_json(catalogue).dump(2) + "\n";
}
TeacherCatalogue catalogue_from_text(std::string_view text) {
  return catalogue_from(parse_json(text, "teachers.json"));
}

std::string digest_of(const Table& records, const std::string& key) {
  std::string bytes = key;
  const auto put = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  std::string chain;
  for (std::size_t row = 0; row < records.rows(); ++row) {
    const auto dense = records.dense(row);
    const auto hot = records.hot(row);
    const double factor = records.factor(row);
    put(dense.data(), dense.size_bytes());
    put(hot.data(), hot.size_bytes());
    put(&factor, sizeof factor);
    if (!records.targets().empty()) put(&records.targets()[row], sizeof(double));
    if (!records.ids().empty()) {  // they decide on the part
      const std::string& id = records.ids()[row];
      const std::size_t length = id.size();
      put(&length, sizeof length);
      put(id.data(), length);
    }
    if (bytes.size() > (1U << 20)) {
      chain += bytes;
      chain = sha256(chain);
      bytes = key;
    }
  }
  return sha256(chain + bytes);
}

TeacherStore TeacherStore::open(const std::string& directory, TeacherCatalogue wanted,
                                const Table& records) {
  const fs::path list = fs::path(directory) / "teachers.json";
  if (fs::exists(list)) {
    TeacherStore store = read(directory);
    if (identity(store.catalogue_) != identity(wanted))
      throw InvalidArgument(fmt::format("'{}' holds teachers of another request", directory),
                            "choose another directory, or remove it to start over");
    if (store.catalogue_.records != digest_of(records, store.catalogue_.key))
      throw InvalidArgument(fmt::format("'{}' holds teachers of other records", directory),
                            "choose another directory, or remove it to start over");
    return store;
  }
  if (fs::exists(directory) && !fs::is_empty(directory))
    throw InvalidArgument(fmt::format("'{}' exists and is no directory of teachers", directory));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    throw StorageError(fmt::format("cannot make '{}': {}", directory, std::strerror(errno)));
  if (::chmod(directory.c_str(), 0700) != 0)
    throw StorageError(
        fmt::format("cannot close '{}' to others: {}", directory, std::strerror(errno)));
  wanted.records = digest_of(records, wanted.key);
  replace_secret((fs::path(directory) / "NOT-PRIVATE.txt").string(), kNotice);
  replace_secret(list.string(), catalogue_text(wanted));
  return {directory, std::move(wanted)};
}

TeacherStore TeacherStore::read(const std::string& directory) {
  const std::string list = (fs::path(directory) / "teachers.json").string();
  if (!fs::exists(list))
    throw DataError(fmt::format("'{}' is no directory of teachers", directory),
                    "sotto pate train --out DIR makes one");
  return {directory, catalogue_from_text(read_whole_file(list, kMostBytes))};
}

std::string TeacherStore::place(std::size_t teacher) const {
  return (fs::path(directory_) / fmt::format("{:04}", teacher)).string();
}

bool TeacherStore::has(std::size_t teacher) const {
  return fs::exists(fs::path(place(teacher)) / "certificate.json") ||
         fs::exists(place(teacher) + ".none");
}

void TeacherStore::keep(std::size_t teacher, const std::optional<TrainedModel>& model,
                        const Rng& rng) const {
  if (!model) return replace_secret(place(teacher) + ".none", "");
  Certificate c = uncertified(rng);
  c.family = catalogue_.family;
  c.method = "none";
  c.description = "teacher of one part: NOT PRIVATE";
  write_artifact(place(teacher), *model, catalogue_.facts, c);
}

Teachers TeacherStore::load(std::span<const Family> families) const {
  Teachers teachers;
  for (std::size_t i = 0; i < catalogue_.teachers; ++i) {
    if (!has(i))
      throw DataError(fmt::format("'{}' is not complete", directory_),
                      "run sotto pate train again: it goes on where it stopped");
    teachers.push_back(fs::exists(place(i) + ".none")
                           ? nullptr
                           : std::move(read_artifact(place(i), families).model));
  }
  return teachers;
}

}  // namespace sotto::pate
