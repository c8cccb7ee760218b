#include "commands/record_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "options/model_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

class ImagesInMemory final : public Source {
 public:
  explicit ImagesInMemory(const Images& images) : images_(images) {}

  void each(const std::function<void(const Block&)>& visit) override { visit(images_); }
  std::vector<int128> sum(std::size_t, const AddBlock&, std::size_t) override { refuse(); }
  Table table() override { refuse(); }
  Images images() override { return images_; }

 private:
  [[noreturn]] static void refuse() { throw Unsupported("this data is images, not a table"); }
  void map_any(const std::function<Any(const Table&)>&,
               const std::function<void(Any&&)>&) override {
    refuse();
  }
  const Images& images_;
};

constexpr std::uint32_t kNoClass = std::numeric_limits<std::uint32_t>::max();

Images labelled(const Images& all, const ImageFacts& facts) {
  Images kept{all.height, all.width, {}, {}};
  const std::size_t size = all.height * all.width;
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    if (all.labels[i] >= facts.classes) continue;
    const auto first = all.pixels.begin() + static_cast<std::ptrdiff_t>(i * size);
    kept.pixels.insert(kept.pixels.end(), first, first + static_cast<std::ptrdiff_t>(size));
    kept.labels.push_back(all.labels[i]);
  }
  return kept;
}

void append_null_row(Table& table) {
  const Table::Sink sink = table.add_row();
  std::ranges::fill(sink.dense, 0.0);
  for (std::size_t h = 0; h < sink.hot.size(); ++h)
    sink.hot[h] = table.encoder().hot_positions()[h];
  sink.factor = std::nan("");
  if (table.encoder().has_target()) table.add_target(0);
  for (std::size_t g = 0; g < table.encoder().groups().size(); ++g) table.add_group(g, 0);
}

}  // namespace

RecordSet RecordSet::read(const Arguments& arguments, const Facts& any) {
  if (any.images) return images(arguments.text("data"), *any.images);
  return RecordSet(load_table(arguments.text("data"), *any.encoder,
                              table_options(arguments, any.encoder->schema())));
}

RecordSet RecordSet::images(const std::string& folder, const ImageFacts& facts) {
  return RecordSet(labelled(image_folder(folder, "train", facts)->images(), facts));
}

RecordSet RecordSet::none(const Facts& facts) {
  if (facts.images) return RecordSet(Images{facts.images->height, facts.images->width, {}, {}});
  return RecordSet(Table(*facts.encoder));
}

Block RecordSet::block() const {
  const auto* const table = std::get_if<Table>(&records_);
  return table != nullptr ? Block(*table) : Block(std::get<Images>(records_));
}

std::unique_ptr<Source> RecordSet::source() const {
  if (const auto* const table = std::get_if<Table>(&records_)) return table_in_memory(*table, 1);
  return std::make_unique<ImagesInMemory>(std::get<Images>(records_));
}

void RecordSet::append(const RecordSet& other, std::size_t record) {
  if (auto* const table = std::get_if<Table>(&records_))
    return table->append(std::get<Table>(other.records_), record, 1);
  auto& mine = std::get<Images>(records_);
  const auto& theirs = std::get<Images>(other.records_);
  const std::size_t size = theirs.height * theirs.width;
  const auto first = theirs.pixels.begin() + static_cast<std::ptrdiff_t>(record * size);
  mine.pixels.insert(mine.pixels.end(), first, first + static_cast<std::ptrdiff_t>(size));
  mine.labels.push_back(theirs.labels[record]);
}

void RecordSet::append_null() {
  if (auto* const table = std::get_if<Table>(&records_)) return append_null_row(*table);
  auto& mine = std::get<Images>(records_);
  mine.pixels.resize(mine.pixels.size() + mine.height * mine.width);
  mine.labels.push_back(kNoClass);
}

RecordSet RecordSet::chosen(const std::vector<std::size_t>& places, const Facts& facts) const {
  RecordSet some = none(facts);
  for (const std::size_t place : places) some.append(*this, place);
  return some;
}

}  // namespace sotto::cli
