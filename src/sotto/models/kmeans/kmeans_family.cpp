#include "sotto/models/kmeans/kmeans_family.hpp"

#include "sotto/models/kmeans/detail/kmeans_model.hpp"
#include "sotto/models/kmeans/detail/kmeans_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;
  return schema;
}

}  // namespace

Family kmeans_family() {
  return {.name = "kmeans",
          .title = "Clusters",
          .kinds = {{"kmeans", {Task::cluster}, "centres with records near to them"}},
          .methods = {{"coreset",
                       "noisy rounds with more centres than wanted, clustered, then noisy rounds",
                       {"clusters", "iterations"}},
                      {"lloyd",
                       "noisy rounds from centres that know nothing of the data",
                       {"clusters", "iterations"}},
                      {"aggregate",
                       "noisy rounds, then clusters of many parts, averaged with noise",
                       {"clusters", "iterations", "parts"}},
                      {"none", "no noise: NOT PRIVATE", {"clusters", "iterations"}}},
          .options = {{.name = "clusters",
                       .type = OptionType::whole,
                       .value = "K",
                       .help = "how many",
                       .fallback = "8",
                       .range = Range::between(1, 10000)},
                      {.name = "iterations",
                       .type = OptionType::whole,
                       .value = "T",
                       .help = "rounds; default by a public rule",
                       .range = Range::between(1, 10000)},
                      {.name = "parts",
                       .type = OptionType::whole,
                       .value = "M",
                       .help = "parts of the data; default: as many as have five records for each "
                               "cluster",
                       .range = Range::between(2, 1000000)}},
          .prepare = prepare,
          .plan = kmeans_training,
          .load = load_kmeans};
}

}  // namespace sotto
