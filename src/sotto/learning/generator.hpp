// Generator: a model that draws new records, and says how well its records match what was released.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

// A noisy marginal beside the records that were drawn. Everything in it was released.
struct FidelityLine {
  std::vector<std::string> columns;               // one or two
  double difference = 0;                          // total variation between the two
  double noise = 0;                               // of it, about what the noise alone explains
  std::vector<std::string> labels = {};           // of one column: its levels,
  std::vector<double> released = {}, drawn = {};  // and their shares
};

struct Drawn {
  std::uint64_t rows = 0;
  std::vector<FidelityLine> fidelity;
};

class Generator : public Model {
 public:
  Task task() const final { return Task::generate; }
  std::vector<OutputColumn> columns() const final { return {}; }
  std::vector<double> apply(const Block& block) const final;  // throws Unsupported

  // The names of the columns that it draws.
  virtual std::vector<std::string> header() const = 0;
  // So many records, each as the texts of its cells. Costs nothing: what is drawn depends on
  // released figures and fresh randomness only.
  virtual Drawn draw(std::uint64_t rows, Rng& rng,
                     const std::function<void(const std::vector<std::string>&)>& write) const = 0;
};

}  // namespace sotto
