// Detail: a trained pipeline. Each step transforms records for the next; the last one speaks.
#pragma once

#include <memory>
#include <vector>

#include "sotto/learning/family.hpp"

namespace sotto {

class PipelineModel final : public Model {
 public:
  // One trained step and what it reads.
  struct Stage {
    const Family* family;
    Facts facts;
    std::unique_ptr<Model> model;
  };

  explicit PipelineModel(std::vector<Stage> stages) : stages_(std::move(stages)) {}

  const Model& last() const { return *stages_.back().model; }
  const std::vector<Stage>& stages() const { return stages_; }

  Task task() const override { return last().task(); }
  std::vector<OutputColumn> columns() const override { return last().columns(); }
  Portrait portrait() const override { return last().portrait(); }
  Files files() const override;
  std::vector<double> apply(const Block& block) const override;
  std::vector<ScoredRow> score(const Block& block, std::optional<std::size_t> group) const override;

 private:
  template <class F>
  auto with_input(const Block& block, const F& f) const;
  std::vector<Stage> stages_;
};

}  // namespace sotto
