#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBlockRows = 4096;

// Partial sums, one for each worker at most: a worker takes one, adds a block to it and puts it
// back.
class PartialSums {
 public:
  PartialSums(std::size_t size, const Source::AddBlock& add, std::size_t at_once)
      : size_(size), add_(add), at_once_(at_once) {}

  void add(const Table& block) {
    Partial partial = take();
    if (!partial.waiting && block.rows() >= at_once_) {
      add_(block, partial.sums);
    } else {
      if (!partial.waiting) partial.waiting.emplace(block.encoder());
      partial.waiting->append(block);
      if (partial.waiting->rows() >= at_once_) flush(partial);
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(partial));
  }
  std::vector<int128> finish() {
    std::vector<int128> total(size_);
    for (Partial& partial : idle_) {
      if (partial.waiting) flush(partial);
      for (std::size_t i = 0; i < size_; ++i) total[i] += partial.sums[i];
    }
    return total;
  }

 private:
  struct Partial {
    std::vector<int128> sums;
    std::optional<Table> waiting;  // fewer records than are worth adding
  };
  Partial take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {std::vector<int128>(size_), std::nullopt};
    Partial partial = std::move(idle_.back());
    idle_.pop_back();
    return partial;
  }
  void flush(Partial& partial) {
    add_(*partial.waiting, partial.sums);
    partial.waiting.reset();
  }

  std::size_t size_;
  const Source::AddBlock& add_;
  std::size_t at_once_;
  std::mutex mutex_;
  std::vector<Partial> idle_;
};

// Encoded records in memory, cut into blocks.
class Kept {
 public:
  Kept(const Table& table, unsigned threads) : threads_(threads) {
    for (std::size_t first = 0; first < table.rows(); first += kBlockRows) {
      Table& block = blocks_.emplace_back(table.encoder());
      block.append(table, first, std::min(kBlockRows, table.rows() - first));
    }
  }

  template <class F>
  void for_each(const F& f) const {  // on all threads
    parallel_blocks(blocks_.size(), threads_, [&](std::size_t b, unsigned) { f(b, blocks_[b]); });
  }
  std::size_t size() const { return blocks_.size(); }

 private:
  unsigned threads_;
  std::vector<Table> blocks_;
};

class TableSource : public Source {
 public:
  std::vector<int128> sum(std::size_t size, const AddBlock& add, std::size_t at_once) final {
    PartialSums partial(size, add, at_once);
    if (kept_) {
      kept_->for_each([&](std::size_t, const Table& block) { partial.add(block); });
    } else {
      pass([&](const Table& block) { partial.add(block); });
    }
    return partial.finish();
  }
  void keep() final {
    if (kept_) return;
    if (const Table* whole = in_memory()) {
      kept_.emplace(*whole, threads_);
    } else {
      kept_.emplace(table(), threads_);
    }
  }
  Images images() final { throw Unsupported("this data is a table, not a folder of images"); }

 protected:
  explicit TableSource(unsigned threads) : threads_(threads) {}
  // Every block once, on any thread.
  virtual void pass(const std::function<void(const Table&)>& visit) = 0;

  unsigned threads_;
  std::optional<Kept> kept_;
};

class TableFile final : public TableSource {
 public:
  TableFile(std::string path, std::shared_ptr<const Encoder> encoder, TableOptions options)
      : TableSource(0),
        path_(std::move(path)),
        encoder_(std::move(encoder)),
        options_(std::move(options)) {}

  Table table() override { return load_table(path_, *encoder_, options_); }
  void each(const std::function<void(const Block&)>& visit) override {
    for_each_block(
        path_, *encoder_, kBlockRows, [&](const Table& block) { visit(block); }, options_);
  }

 private:
  void pass(const std::function<void(const Table&)>& visit) override {
    map_table<std::monostate>(
        path_, *encoder_,
        [&](const Table& block) {
          visit(block);
          return std::monostate{};
        },
        [](std::monostate&&) {}, options_);
  }
  void map_any(const std::function<Any(const Table&)>& map,
               const std::function<void(Any&&)>& consume) override {
    map_table<Any>(path_, *encoder_, map, consume, options_);
  }

  std::string path_;
  std::shared_ptr<const Encoder> encoder_;
  TableOptions options_;
};

class TableInMemory final : public TableSource {
 public:
  TableInMemory(const Table& table, unsigned threads) : TableSource(threads), table_(table) {}

  Table table() override { return table_; }
  const Table* in_memory() const override { return &table_; }
  void each(const std::function<void(const Block&)>& visit) override { visit(table_); }

 private:
  void pass(const std::function<void(const Table&)>& visit) override {
    keep();
    kept_->for_each([&](std::size_t, const Table& block) { visit(block); });
  }
  void map_any(const std::function<Any(const Table&)>& map,
               const std::function<void(Any&&)>& consume) override {
    keep();
    std::vector<Any> results(kept_->size());
    kept_->for_each([&](std::size_t b, const Table& block) { results[b] = map(block); });
    for (Any& result : results) consume(std::move(result));
  }

  const Table& table_;
};

}  // namespace

std::unique_ptr<Source> table_file(std::string path, std::shared_ptr<const Encoder> encoder,
                                   TableOptions options) {
  return std::make_unique<TableFile>(std::move(path), std::move(encoder), std::move(options));
}

std::unique_ptr<Source> table_in_memory(const Table& table, unsigned threads) {
  return std::make_unique<TableInMemory>(table, threads);
}

}  // namespace sotto
