// Source: the private records of a run, seen by a family only through what it asks for.
//
// What       sum(size, add): Σ over all records of integers that each record contributes. A family
//            writes `add` for a block of records and says nothing of files, shards, threads or
//            ranks. map(): the same for results that are no sums. table(), images(): all records.
// Guarantee  None of its own: what comes out is as private as the records, and leaves only through
//            a mechanism that knows its sensitivity.
// Method     Every worker adds to partial sums of its own; the partial sums are added up at the
//            end. Integers commute, so neither the cut into blocks nor the order changes a bit.
// Numerics   128 bits; the family keeps contributions so small that sums cannot overflow.
// Reference  docs/adr/0011-one-shelf-for-families.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/data/table.hpp"
#include "sotto/learning/block.hpp"
#include "sotto/learning/facts.hpp"

namespace sotto {

class Source {
 public:
  virtual ~Source() = default;

  // Adds what the records of a block contribute. Called from any thread, for blocks cut anyhow.
  using AddBlock = std::function<void(const Table& block, std::span<int128> sums)>;
  // at_once: blocks have at least so many records, as long as there are any; for sums so large that
  // walking through them is worth many records only.
  virtual std::vector<int128> sum(std::size_t size, const AddBlock& add,
                                  std::size_t at_once = 1) = 0;

  // `map` turns a block into a Result, on any thread; `consume` gets the results in the order of
  // the records, on the calling one.
  template <class Result>
  void map(const std::function<Result(const Table&)>& map,
           const std::function<void(Result&&)>& consume) {
    map_any([&](const Table& block) -> Any { return std::make_shared<Result>(map(block)); },
            [&](Any&& result) { consume(std::move(*static_cast<Result*>(result.get()))); });
  }

  // Several passes will follow: encoded records stay in memory after the first.
  virtual void keep() {}

  // All records at once, for methods that cannot do with less. Throw Unsupported for the other
  // form.
  virtual Table table() = 0;
  virtual Images images() = 0;

  // All records as they are, where they are in memory already; null otherwise.
  virtual const Table* in_memory() const { return nullptr; }

  // All records in their order, a block at a time; for models that are applied.
  virtual void each(const std::function<void(const Block&)>& visit) = 0;

 protected:
  using Any = std::shared_ptr<void>;
  virtual void map_any(const std::function<Any(const Table&)>& map,
                       const std::function<void(Any&&)>& consume) = 0;
};

// A file with a table: CSV, .npy or IDX.
std::unique_ptr<Source> table_file(std::string path, std::shared_ptr<const Encoder> encoder,
                                   TableOptions options = {});
// A table in memory, which must outlive the source. threads: 0 for as many as the machine has.
std::unique_ptr<Source> table_in_memory(const Table& table, unsigned threads = 0);
// Part "train" or "t10k" of a folder with IDX files. with_labels: false for prediction.
std::unique_ptr<Source> image_folder(std::string folder, std::string part, const ImageFacts& facts,
                                     bool with_labels = true);
// Images without labels, for prediction: an IDX file.
std::unique_ptr<Source> image_file(std::string path, const ImageFacts& facts);

}  // namespace sotto
