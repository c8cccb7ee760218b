#include "sotto/models/preprocess/detail/preprocess_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learning/model_file.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

bool is_right(Preprocessing kind, const ColumnFigures& f, std::size_t edges) {
  for (const double x : f)
    if (!std::isfinite(x)) return false;
  switch (kind) {
    case Preprocessing::bounds: return f.size() == 2 && f[0] < f[1];
    case Preprocessing::scale: return f.size() == 2 && f[1] > 0;
    case Preprocessing::bins:
      return f.size() == edges && f.size() < kMostBins && std::is_sorted(f.begin(), f.end());
  }
  return false;
}

class PreprocessModel final : public TransformModel {
 public:
  PreprocessModel(Preprocessing kind, std::vector<ColumnFigures> figures, const Facts& facts)
      : TransformModel(facts), kind_(kind), figures_(std::move(figures)) {
    const auto numeric = std::count_if(encoder().features().begin(), encoder().features().end(),
                                       [](const ColumnEncoder& c) { return c.is_numeric(); });
    if (figures_.size() != static_cast<std::size_t>(numeric)) does_not_fit();
    for (const ColumnFigures& f : figures_)
      if (!is_right(kind_, f, figures_.front().size())) does_not_fit();
  }

  Files files() const override {
    const Json json = {
        {"schema", 1}, {"type", "preprocess"}, {"kind", name(kind_)}, {"figures", figures_}};
    return {{"model.json", json.dump() + "\n"}};
  }
  std::vector<OutputColumn> columns() const override {
    return preprocess_columns(kind_, figures_, encoder());
  }

  std::vector<double> apply(const Block& block) const override {
    const Table& table = block.table();
    const Encoder& e = encoder();
    std::vector<double> values;
    values.reserve(table.rows() * e.features().size());
    for (std::size_t i = 0; i < table.rows(); ++i) {
      std::size_t dense = 0, hot = 0, numeric = 0;
      for (const ColumnEncoder& column : e.features()) {
        if (column.is_categorical()) {
          values.push_back(static_cast<double>(table.hot(i)[hot] - e.hot_positions()[hot]));
          ++hot;
          continue;
        }
        const double v = table.dense(i)[dense++];
        values.push_back(column.is_numeric() ? mapped(column.unscaled(v), figures_[numeric++]) : v);
      }
    }
    return values;
  }

  // Rows are all there is to say of it.
  std::size_t measures() const override { return 0; }
  Distance measure_bound() const override { return {0, 0}; }
  void measure(std::span<const double>, std::span<double>) const override {}
  Json figures(std::span<const double>, double rows, double) const override {
    const bool whole = rows >= 0 && rows < 0x1p53 && rows == std::floor(rows);
    return {{"rows", whole ? Json(static_cast<std::uint64_t>(rows)) : Json(rows)}};
  }

 private:
  double mapped(double x, const ColumnFigures& f) const {
    if (!std::isfinite(x)) x = 0;  // of a null record, which nobody reads
    switch (kind_) {
      case Preprocessing::bounds: return std::clamp(x, f[0], f[1]);
      case Preprocessing::scale: return (x - f[0]) / f[1];
      case Preprocessing::bins:
        return static_cast<double>(std::upper_bound(f.begin(), f.end(), x) - f.begin());
    }
    return 0;
  }

  Preprocessing kind_;
  std::vector<ColumnFigures> figures_;
};

}  // namespace

std::string_view name(Preprocessing kind) {
  switch (kind) {
    case Preprocessing::bounds: return "bounds";
    case Preprocessing::scale: return "scale";
    case Preprocessing::bins: return "bins";
  }
  invariant_broken("a step without a name");
}

Preprocessing parse_preprocessing(std::string_view text) {
  for (const auto kind : {Preprocessing::bounds, Preprocessing::scale, Preprocessing::bins})
    if (name(kind) == text) return kind;
  throw InvalidArgument(fmt::format("unknown step '{}'", text), "use bounds, scale or bins");
}

std::vector<OutputColumn> preprocess_columns(Preprocessing kind,
                                             const std::vector<ColumnFigures>& figures,
                                             const Encoder& encoder) {
  std::vector<OutputColumn> list = feature_columns(encoder);
  std::size_t numeric = 0;
  for (std::size_t f = 0; f < list.size(); ++f) {
    const ColumnEncoder& column = encoder.features()[f];
    if (!column.is_numeric()) {
      if (!column.is_categorical()) list[f].bounds = Bounds(0, 1);
      continue;
    }
    const ColumnFigures& found = figures[numeric++];
    list[f].bounds.reset();
    switch (kind) {
      case Preprocessing::bounds: list[f].bounds = Bounds(found[0], found[1]); break;
      case Preprocessing::scale: list[f].bounds = Bounds(-kScaleReach, kScaleReach); break;
      case Preprocessing::bins:
        for (std::size_t b = 0; b <= found.size(); ++b)
          list[f].labels.push_back(fmt::format("bin_{}", b + 1));
        break;
    }
  }
  return list;
}

std::unique_ptr<Model> preprocess_model(Preprocessing kind, std::vector<ColumnFigures> figures,
                                        const Facts& facts) {
  return std::make_unique<PreprocessModel>(kind, std::move(figures), facts);
}

std::unique_ptr<Model> load_preprocess(const Files& files, Facts& facts) {
  try {
    const Json json = model_json(files);
    if (json.at("schema") != 1 || json.at("type") != "preprocess" || !facts.encoder)
      throw DataError("'model.json' is no step that this version knows");
    return preprocess_model(parse_preprocessing(json.at("kind").get<std::string>()),
                            json.at("figures").get<std::vector<ColumnFigures>>(), facts);
  } catch (const InvalidArgument& error) {
    throw DataError(fmt::format("'model.json': {}", error.what()));
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is no step", "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
