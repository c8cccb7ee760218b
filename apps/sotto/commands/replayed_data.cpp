#include "commands/replayed_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/training.hpp"
#include "options/reader_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/source.hpp"

namespace sotto::cli {
namespace {

// The records that moved a query the most so far, and those that are tried now.
template <class Record>
class Search {
 public:
  // made: a new record. crossed: a variant of one.
  template <class Made, class Crossed>
  const std::pair<Record, Record>& next(std::mt19937_64& random, Made&& made, Crossed&& crossed) {
    const bool fresh = move_ <= 0 || random() % 3 == 0;
    tried_ =
        fresh ? std::pair(made(), made()) : std::pair(crossed(best_.first), crossed(best_.second));
    return tried_;
  }
  void tell(double move) {
    if (move > move_) move_ = move, best_ = tried_;
  }

 private:
  double move_ = 0;
  std::pair<Record, Record> best_, tried_;
};

class ReplayedTable final : public ReplayedData {
 public:
  ReplayedTable(const Arguments& inner, const std::optional<UserColumn>& user, Workshop& workshop)
      : text_(inner.text("data"), csv_options(inner).delimiter, user), workshop_(workshop) {}

  std::string path() override { return workshop_.write("data.csv", ""); }
  Pair neighbours(Change change, std::mt19937_64& random, bool unreadable) override {
    return written(text_.neighbours(change, random, unreadable));
  }
  Pair adversarial(Change change, std::mt19937_64& random, bool unreadable) override {
    const auto made = [&] { return text_.made_up(random, unreadable); };
    const auto crossed = [&](const CsvText::Unit& unit) {
      return text_.crossed(unit, made(), random);
    };
    const auto& [unit, other] = search_.next(random, made, crossed);
    return written(text_.neighbours(change, unit, other, random));
  }
  void tell(double move) override { search_.tell(move); }

 private:
  Pair written(CsvText::Pair pair) {
    return {pair.record, [this, text = std::move(pair.a)] { workshop_.write("data.csv", text); },
            [this, text = std::move(pair.b)] { workshop_.write("data.csv", text); }};
  }

  CsvText text_;
  Workshop& workshop_;
  Search<CsvText::Unit> search_;
};

struct LabelledImage {
  std::vector<std::uint8_t> pixels;
  std::uint32_t label = 0;
};

class ReplayedImages final : public ReplayedData {
 public:
  ReplayedImages(const std::string& folder, const ImageFacts& facts, Workshop& workshop)
      : images_(image_folder(folder, "train", facts)->images()),
        classes_(facts.classes),
        workshop_(workshop) {}

  // A folder on disk whose files are in memory.
  std::string path() override {
    std::string folder = workshop_.place("images");
    std::filesystem::create_directory(folder);
    for (const char* name : {kImages, kLabels})
      std::filesystem::create_symlink(workshop_.write(name, ""), folder + "/" + name);
    return folder;
  }
  Pair neighbours(Change change, std::mt19937_64& random, bool) override {
    if (images_.count() == 0 && change != Change::add)
      throw DataError("there is no image to change", "give a folder with images");
    const std::size_t chosen = change == Change::add ? images_.count() : random() % images_.count();
    return pair(change, chosen, change == Change::add ? made(random) : at(chosen), made(random),
                change == Change::add ? 0 : chosen + 1);
  }
  Pair adversarial(Change change, std::mt19937_64& random, bool) override {
    const auto& [record, other] = search_.next(
        random, [&] { return made(random); },
        [&](const LabelledImage& image) { return crossed(image, made(random), random); });
    const bool room = change == Change::add || change == Change::drop || images_.count() == 0;
    return pair(change, room ? images_.count() : random() % images_.count(), record, other, 0);
  }
  void tell(double move) override { search_.tell(move); }

 private:
  static constexpr const char *kImages = "train-images-idx3-ubyte",
                              *kLabels = "train-labels-idx1-ubyte";

  std::size_t size() const { return images_.height * images_.width; }
  LabelledImage at(std::size_t i) const {
    const auto first = images_.pixels.begin() + static_cast<std::ptrdiff_t>(i * size());
    return {{first, first + static_cast<std::ptrdiff_t>(size())}, images_.labels[i]};
  }
  // Somebody's with another class, black, white, or noise.
  LabelledImage made(std::mt19937_64& random) const {
    LabelledImage image = images_.count() > 0 ? at(random() % images_.count())
                                              : LabelledImage{std::vector<std::uint8_t>(size()), 0};
    image.label = static_cast<std::uint32_t>(random() % classes_);
    const auto how = random() % 4;
    for (std::uint8_t& p : image.pixels)
      p = how == 0 ? p : how == 1 ? 0 : how == 2 ? 255 : static_cast<std::uint8_t>(random());
    return image;
  }
  LabelledImage crossed(LabelledImage most, const LabelledImage& some,
                        std::mt19937_64& random) const {
    for (std::size_t p = 0; p < most.pixels.size(); ++p)
      if (random() % 8 == 0) most.pixels[p] = some.pixels[p];
    if (random() % 4 == 0) most.label = some.label;
    return most;
  }
  // The image in question stands last, as in files of tables.
  Pair pair(Change change, std::size_t left_out, const LabelledImage& image,
            const LabelledImage& other, std::size_t record) {
    const LabelledImage nothing{std::vector<std::uint8_t>(size()), 255};
    const auto with = [=, this](const LabelledImage* last) {
      return [this, left_out, some = last != nullptr, image = last != nullptr ? *last : nothing] {
        write(left_out, some ? &image : nullptr);
      };
    };
    const bool add = change == Change::add, drop = change == Change::drop;
    return {record, with(add ? nullptr : &image),
            with(add                         ? &image
                 : drop                      ? nullptr
                 : change == Change::replace ? &other
                                             : &nothing)};
  }
  void write(std::size_t left_out, const LabelledImage* last) {
    std::string pixels, labels;
    for (std::size_t i = 0; i < images_.count(); ++i) {
      if (i == left_out) continue;
      pixels.append(reinterpret_cast<const char*>(images_.pixels.data()) + i * size(), size());
      labels += static_cast<char>(std::min<std::uint32_t>(images_.labels[i], 255));
    }
    if (last != nullptr) {
      pixels.append(reinterpret_cast<const char*>(last->pixels.data()), size());
      labels += static_cast<char>(last->label);
    }
    const auto head = [](int dimensions, const std::vector<std::size_t>& extents) {
      std::string bytes = {0, 0, 8, static_cast<char>(dimensions)};
      for (const std::size_t n : extents)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((n >> shift) & 255);
      return bytes;
    };
    workshop_.write(kImages, head(3, {labels.size(), images_.height, images_.width}) + pixels);
    workshop_.write(kLabels, head(1, {labels.size()}) + labels);
  }

  Images images_;
  std::size_t classes_;
  Workshop& workshop_;
  Search<LabelledImage> search_;
};

}  // namespace

std::unique_ptr<ReplayedData> ReplayedData::of(const Arguments& inner,
                                               const std::optional<UserColumn>& user,
                                               Workshop& workshop) {
  std::error_code ignored;
  const std::string data = inner.text("data");
  if (!std::filesystem::is_directory(data, ignored))
    return std::make_unique<ReplayedTable>(inner, user, workshop);
  if (find_option(inner.command(), "image") == nullptr)
    throw InvalidArgument(fmt::format("'{}' is a directory", data), "give a CSV file");
  return std::make_unique<ReplayedImages>(data, declared_images(inner), workshop);
}

}  // namespace sotto::cli
