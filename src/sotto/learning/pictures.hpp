// Own pictures for prediction: PGM, PPM and PNG files (data/picture.hpp) of the size that a model
// takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/learning/facts.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {

struct PictureFiles {
  std::string folder;
  std::vector<std::string> names;  // sorted
};

// What a path names: the pictures in a folder without IDX files, or one picture. No names when it
// is something else.
PictureFiles picture_files(const std::string& path);

// These pictures, without labels, in this order. The source throws DataError for a picture that is
// damaged or of another size.
std::unique_ptr<Source> pictures(PictureFiles files, const ImageFacts& facts);

}  // namespace sotto
