#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sotto/core/error.hpp"
#include "sotto/data/idx.hpp"
#include "sotto/data/picture.hpp"
#include "sotto/data/source_error.hpp"
#include "sotto/learning/pictures.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

fs::path idx_file(const std::string& folder, const std::string& part, const std::string& kind) {
  const std::string digits = kind == "images" ? "idx3" : "idx1";
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      fs::path path = fs::path(folder) /
                      fmt::format("{}-{}{}{}-ubyte{}", part, kind, separator, digits, ending);
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
    }
  }
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored))
    throw SourceError(fmt::format("'{}' is a file, and a folder of images is meant", folder),
                      "name the folder that holds the IDX files");
  if (!fs::exists(folder, ignored))
    throw SourceError(fmt::format("there is no '{}'", folder), "check the name");
  throw SourceError(
      fmt::format("'{}' holds no {}-{}-{}-ubyte, plain or .gz", folder, part, kind, digits),
      "a folder of images holds the four IDX files of MNIST and its relatives; for predictions "
      "PNG, "
      "PGM or PPM pictures do");
}

class ImageSource : public Source {
 public:
  explicit ImageSource(const ImageFacts& facts) : facts_(facts) {}

  void each(const std::function<void(const Block&)>& visit) override { visit(images()); }
  std::vector<int128> sum(std::size_t, const AddBlock&, std::size_t) final { refuse(); }
  Table table() final { refuse(); }

 protected:
  Images read(const std::string& path) const {
    IdxArray array = read_idx(path);
    if (array.shape.size() != 3 || array.shape[1] != facts_.height ||
        array.shape[2] != facts_.width)
      throw DataError(fmt::format("the images in '{}' are not of the declared size {}x{}", path,
                                  facts_.height, facts_.width),
                      "declare their size with `image` HEIGHTxWIDTH");
    return {facts_.height, facts_.width, std::move(array.values), {}};
  }

  ImageFacts facts_;

 private:
  [[noreturn]] static void refuse() { throw Unsupported("this data is images, not a table"); }
  void map_any(const std::function<Any(const Table&)>&, const std::function<void(Any&&)>&) final {
    refuse();
  }
};

class ImageFile final : public ImageSource {
 public:
  ImageFile(std::string path, const ImageFacts& facts)
      : ImageSource(facts), path_(std::move(path)) {}
  Images images() override { return read(path_); }

 private:
  std::string path_;
};

class ImageFolder final : public ImageSource {
 public:
  ImageFolder(std::string folder, std::string part, const ImageFacts& facts, bool with_labels)
      : ImageSource(facts),
        folder_(std::move(folder)),
        part_(std::move(part)),
        with_labels_(with_labels) {}

  Images images() override {
    Images images = read(idx_file(folder_, part_, "images").string());
    if (with_labels_) images.labels = labels(images.count());
    return images;
  }

 private:
  // A label that is not one of the declared classes counts for nothing: whether there is one is
  // private.
  std::vector<std::uint32_t> labels(std::size_t count) const {
    const fs::path path = idx_file(folder_, part_, "labels");
    const IdxArray array = read_idx(path.string());
    if (array.shape.size() != 1 || array.shape[0] != count)
      throw DataError(fmt::format("'{}' has not one label for each image", path.string()));
    std::vector<std::uint32_t> labels(array.values.begin(), array.values.end());
    for (std::uint32_t& label : labels)
      label = std::min(label, static_cast<std::uint32_t>(facts_.classes));
    return labels;
  }

  std::string folder_, part_;
  bool with_labels_;
};

// Pictures of a folder, some at a time.
class Pictures final : public ImageSource {
 public:
  Pictures(PictureFiles files, const ImageFacts& facts)
      : ImageSource(facts), files_(std::move(files)) {}

  Images images() override { return some(0, files_.names.size()); }
  void each(const std::function<void(const Block&)>& visit) override {
    constexpr std::size_t kAtOnce = 4096;
    for (std::size_t first = 0; first < files_.names.size(); first += kAtOnce)
      visit(some(first, std::min(files_.names.size(), first + kAtOnce)));
  }

 private:
  Images some(std::size_t first, std::size_t last) const {
    Images images{facts_.height, facts_.width, {}, {}};
    images.pixels.reserve((last - first) * facts_.height * facts_.width);
    for (std::size_t i = first; i < last; ++i) {
      const std::string path = (fs::path(files_.folder) / files_.names[i]).string();
      const Picture picture = read_picture(path);
      if (picture.height != facts_.height || picture.width != facts_.width)
        throw DataError(
            fmt::format("'{}' is a picture of {}x{} pixels; the model takes {}x{}", path,
                        picture.height, picture.width, facts_.height, facts_.width),
            "bring it to that size, as the images were that the model was trained on");
      images.pixels.insert(images.pixels.end(), picture.pixels.begin(), picture.pixels.end());
    }
    return images;
  }

  PictureFiles files_;
};

}  // namespace

PictureFiles picture_files(const std::string& path) {
  PictureFiles files;
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    const fs::path one(path);
    if (is_picture_name(path)) files = {one.parent_path().string(), {one.filename().string()}};
    return files;
  }
  files.folder = path;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("t10k-images")) return {};
    if (std::error_code ignored; is_picture_name(name) && it->is_regular_file(ignored))
      files.names.push_back(name);
  }
  std::sort(files.names.begin(), files.names.end());
  return files;
}

std::unique_ptr<Source> pictures(PictureFiles files, const ImageFacts& facts) {
  return std::make_unique<Pictures>(std::move(files), facts);
}

std::unique_ptr<Source> image_file(std::string path, const ImageFacts& facts) {
  return std::make_unique<ImageFile>(std::move(path), facts);
}

std::unique_ptr<Source> image_folder(std::string folder, std::string part, const ImageFacts& facts,
                                     bool with_labels) {
  return std::make_unique<ImageFolder>(std::move(folder), std::move(part), facts, with_labels);
}

}  // namespace sotto
