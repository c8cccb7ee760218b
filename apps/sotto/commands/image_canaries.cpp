#include "commands/image_canaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto::cli {

RecordSet image_canaries(CanaryKind kind, std::size_t count, const RecordSet& all,
                         const Facts& facts, std::mt19937_64& random) {
  if (all.size() == 0) throw DataError("there is no image to make canaries from");
  const Images& images = all.block().images();
  const std::size_t size = images.height * images.width, classes = facts.images->classes;
  Images made{images.height, images.width, {}, {}};
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t somebody = random() % all.size();
    for (std::size_t p = 0; p < size; ++p)
      made.pixels.push_back(kind == CanaryKind::mislabelled ? images.pixels[somebody * size + p]
                            : kind == CanaryKind::blank     ? 128
                                                            : 255 * (random() & 1));
    const std::size_t other =
        classes > 1 ? (images.labels[somebody] + 1 + random() % (classes - 1)) % classes : 0;
    made.labels.push_back(
        static_cast<std::uint32_t>(kind == CanaryKind::mislabelled ? other : random() % classes));
  }
  return RecordSet(std::move(made));
}

CanaryPlaces::CanaryPlaces(std::size_t canaries, std::size_t records, Relation relation,
                           std::mt19937_64& random) {
  if (relation == Relation::add_remove) return;
  if (canaries > records)
    throw DataError(fmt::format("{} canaries take the places of as many records, and there are "
                                "fewer",
                                canaries),
                    fmt::format("under {} the number of records is public: try fewer canaries",
                                name(relation)));
  places_.resize(records);
  std::iota(places_.begin(), places_.end(), std::size_t{0});
  std::shuffle(places_.begin(), places_.end(), random);
  places_.resize(canaries);
}

RecordSet CanaryPlaces::data_with(const RecordSet& all, const RecordSet& canaries,
                                  const std::vector<bool>& in, const Facts& facts) const {
  RecordSet data = RecordSet::none(facts);
  std::map<std::size_t, std::size_t> canary_at;
  for (std::size_t k = 0; k < places_.size(); ++k) canary_at[places_[k]] = k;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto it = canary_at.find(i);
    if (it == canary_at.end() || (!in[it->second] && facts.relation == Relation::replace_one))
      data.append(all, i);
    else if (in[it->second])
      data.append(canaries, it->second);
    else
      data.append_null();
  }
  if (places_.empty())
    for (std::size_t k = 0; k < in.size(); ++k)
      if (in[k]) data.append(canaries, k);
  return data;
}

}  // namespace sotto::cli
