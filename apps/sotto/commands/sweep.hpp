// The privacy-utility curve once the kind of model no longer matters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/model_options.hpp"
#include "shell/context.hpp"
#include "sotto/core/event.hpp"
#include "sotto/learning/group_runs.hpp"

namespace sotto::cli {

// One kind of model on one data set, at any budget.
class SweepSubject {
 public:
  virtual ~SweepSubject() = default;

  // Public facts.
  virtual std::vector<std::string> methods() const = 0;
  virtual Relation relation() const = 0;
  virtual std::string unit() const = 0;
  virtual std::optional<std::uint64_t> rows() const = 0;  // declared
  virtual std::string target() const = 0;
  virtual std::string metric() const = 0;  // "accuracy", "r2", …
  virtual bool smaller_is_better() const { return false; }
  // Of one run. Throws where the method does not fit.
  virtual Event event(std::size_t method, double epsilon) const = 0;

  // Trains and measures so many times; `done` is called after each run.
  virtual std::vector<double> qualities(std::size_t method, double epsilon, std::uint64_t repeats,
                                        Rng& rng, const std::function<void()>& done) = 0;
  virtual double without_privacy(Rng& rng) = 0;
  // What the runs of a method at a budget say of groups; null where none were asked for.
  virtual const GroupRuns* groups(std::size_t, double) const { return nullptr; }
  virtual std::vector<std::string> labels() const { return {}; }  // of the classes
  // The name of the curve, known after its runs.
  virtual std::string curve(std::size_t method) const { return methods()[method]; }
};

// By its place, under whatever name; the content is not compared, because the answer would depend
// on it. A folder holds training and test files side by side.
bool is_same_file(const std::string& a, const std::string& b);

// A row is held out for measurement with this probability, by a fixed rule: the data is public.
// Throws DataError when nothing is left.
std::vector<bool> held_out_rows(std::size_t rows, double fraction);

void run_sweep(const Arguments& arguments, Context& context, SweepSubject& subject);

}  // namespace sotto::cli
