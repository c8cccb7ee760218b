// A directory of teachers: for its owner's eyes only, and resumable.
//
// What         NOT-PRIVATE.txt  what this is
//              teachers.json    how many, which family with which options, the facts, the key of
//                               the parts, and a digest of the records they learn from
//              0000, 0001, …    artifacts, one for each teacher; 0007.none: no model came of it
// Guarantee  None: NOT PRIVATE, as its files say. Only its owner may enter it (0700).
// Method     A run that was stopped is taken up by the same command: what is there is kept, as long
//            as request, facts and records are the same.
// Numerics   None.
// Reference  docs/adr/0016-teachers-that-vote.md.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "sotto/learning/artifact.hpp"
#include "sotto/pate/teachers.hpp"

namespace sotto::pate {

struct TeacherCatalogue {
  std::uint64_t teachers = 0;
  std::string family, kind;
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  Facts facts = {};
  std::string key = {};      // of the parts
  std::string records = {};  // digest under the key
};

// teachers.json. Throws DataError when the text is none.
std::string catalogue_text(const TeacherCatalogue& catalogue);
TeacherCatalogue catalogue_from_text(std::string_view text);

class TeacherStore {
 public:
  // Makes the directory, or takes up one that holds the same request; throws InvalidArgument when
  // it holds another, StorageError when it cannot be written.
  static TeacherStore open(const std::string& directory, TeacherCatalogue wanted,
                           const Table& records);
  // Throws DataError when it is no such directory.
  static TeacherStore read(const std::string& directory);

  const TeacherCatalogue& catalogue() const { return catalogue_; }
  bool has(std::size_t teacher) const;
  void keep(std::size_t teacher, const std::optional<TrainedModel>& model, const Rng& rng) const;
  // All of them. Throws DataError when one is missing or damaged, whichever it is.
  Teachers load(std::span<const Family> families) const;

 private:
  TeacherStore(std::string directory, TeacherCatalogue catalogue)
      : directory_(std::move(directory)), catalogue_(std::move(catalogue)) {}
  std::string place(std::size_t teacher) const;

  std::string directory_;
  TeacherCatalogue catalogue_;
};

// Of all records, in their order, under the key.
std::string digest_of(const Table& records, const std::string& key);

}  // namespace sotto::pate
