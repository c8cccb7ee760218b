#include "sotto/models/synthesis/detail/synthesis_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/synthesis/detail/even_records.hpp"
#include "sotto/models/synthesis/detail/systematic.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t kMostStoredBins = 4096;
constexpr std::size_t kMostTerms = 1 << 16;
// What a small file could ask for: cells of tables of groups, edges, and terms times cells.
constexpr double kMostGrouped = 4 * MarkovModel::kMostCells, kMostWork = 0x1p34;
constexpr std::size_t kMostEdges = 1 << 22;
constexpr double kMostStoredPotential = 1e9;
constexpr std::size_t kRowsAtOnce = 1 << 18;  // memory does not depend on how many are drawn

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

class SynthesisGenerator final : public Generator {
 public:
  SynthesisGenerator(SynthesisModel model, const Facts& facts)
      : model_(std::move(model)),
        encoder_(facts.encoder),
        columns_(*facts.encoder, model_.bins),
        markov_(levels(), terms(), groups()) {
    markov_.set_potentials(model_.potentials);
  }

  Files files() const override {
    json columns = json::array(), terms = json::array();
    for (const ColumnLevels& c : model_.columns)
      columns.push_back({{"levels", c.levels}, {"level", c.level}, {"share", c.share}});
    for (std::size_t t = 0; t < model_.measured.size(); ++t) {
      terms.push_back({{"columns", model_.measured[t].columns},
                       {"counts", model_.measured[t].counts},
                       {"deviation", model_.measured[t].deviation},
                       {"potential", model_.potentials[t]}});
      if (!model_.measured[t].groups.empty()) terms.back()["groups"] = model_.measured[t].groups;
    }
    const json j = {
        {"schema", 1},           {"type", "synthesis"},           {"bins", model_.bins},
        {"total", model_.total}, {"columns", std::move(columns)}, {"terms", std::move(terms)}};
    return {{"model.json", j.dump() + "\n"}};
  }

  std::vector<std::string> header() const override {
    std::vector<std::string> names;
    for (const ColumnSchema& column : encoder_->schema().columns)
      if (column.role != Role::ignore) names.push_back(column.name);
    return names;
  }

  Drawn draw(std::uint64_t rows, Rng& rng,
             const std::function<void(const std::vector<std::string>&)>& write) const override {
    std::vector<std::vector<double>> counts;  // of each measured marginal, as drawn
    for (const Marginal& m : model_.measured) counts.emplace_back(m.counts.size());
    std::uint64_t user = 0;
    std::optional<EvenRecords> even;
    if (EvenRecords::suits(columns_, model_, rows)) even.emplace(columns_, model_, markov_, rng);
    for (std::uint64_t done = 0; done < rows;) {
      const auto block =
          static_cast<std::size_t>(std::min<std::uint64_t>(rows - done, kRowsAtOnce));
      const std::vector<std::uint32_t> records = markov_.sample(block, rng);
      std::vector<std::uint32_t> cells = cells_of(records, rng);
      if (even) even->even_out(cells, rng);
      tally(cells, counts);
      write_out(cells, rng, user, write);
      done += block;
    }
    return {rows, fidelity(counts, static_cast<double>(rows))};
  }

 private:
  std::vector<std::uint32_t> levels() const {
    std::vector<std::uint32_t> all;
    for (const ColumnLevels& c : model_.columns) all.push_back(c.levels);
    return all;
  }
  std::vector<std::vector<std::uint32_t>> terms() const {
    std::vector<std::vector<std::uint32_t>> all;
    for (const Marginal& m : model_.measured) all.push_back(m.columns);
    return all;
  }
  std::vector<LevelGrouping> groups() const {
    std::vector<LevelGrouping> all;
    for (const Marginal& m : model_.measured) all.push_back(m.groups);
    return all;
  }

  void tally(const std::vector<std::uint32_t>& cells,
             std::vector<std::vector<double>>& counts) const {
    const std::size_t width = columns_.columns();
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const std::vector<std::uint32_t>& of = model_.measured[t].columns;
      const std::vector<std::uint32_t> group = grouped_cells(model_.measured[t].groups);
      for (std::size_t r = 0; r < cells.size(); r += width) {
        std::size_t at = 0;
        for (const std::uint32_t c : of)
          at = at * model_.columns[c].levels + model_.columns[c].level[cells[r + c]];
        ++counts[t][group.empty() ? at : group[at]];
      }
    }
  }

  std::vector<std::uint32_t> cells_of(const std::vector<std::uint32_t>& records, Rng& rng) const {
    const std::size_t width = columns_.columns(), rows = records.size() / width;
    std::vector<std::uint32_t> cells(records.size());
    for (std::size_t j = 0; j < width; ++j) {
      const ColumnLevels& c = model_.columns[j];
      std::vector<std::vector<std::uint32_t>> of(c.levels);
      for (std::uint32_t cell = 0; cell < c.level.size(); ++cell) of[c.level[cell]].push_back(cell);
      std::size_t most = 1;
      for (const auto& some : of) most = std::max(most, some.size());
      // Level by level: a table of all of them would be as large as the largest, many times over.
      std::vector<std::vector<std::size_t>> rows_of(c.levels);
      for (std::size_t r = 0; r < rows; ++r) rows_of[records[r * width + j]].push_back(r);
      for (std::uint32_t l = 0; l < c.levels; ++l) {
        std::vector<double> share;
        for (const std::uint32_t cell : of[l]) share.push_back(c.share[cell]);
        const std::vector<std::uint32_t> one(rows_of[l].size());
        spread_evenly(one, 1, share, share.size(), rng, [&](std::size_t r, std::size_t cell) {
          cells[rows_of[l][r] * width + j] = of[l][cell];
        });
      }
    }
    return cells;
  }

  void write_out(const std::vector<std::uint32_t>& cells, Rng& rng, std::uint64_t& user,
                 const std::function<void(const std::vector<std::string>&)>& write) const {
    const std::size_t width = columns_.columns(), rows = cells.size() / width;
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < rows; ++r) {
      texts.clear();
      std::size_t j = 0;
      for (const ColumnSchema& column : encoder_->schema().columns) {
        if (column.role == Role::ignore) continue;
        // Nobody is behind a record that was drawn: each is a user of its own.
        if (column.role == Role::user) {
          texts.push_back(std::to_string(++user));
          continue;
        }
        texts.push_back(columns_.text(j, cells[r * width + j], rng));
        ++j;
      }
      write(texts);
    }
  }

  std::vector<FidelityLine> fidelity(const std::vector<std::vector<double>>& counts,
                                     double rows) const {
    std::vector<FidelityLine> lines;
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const Marginal& m = model_.measured[t];
      FidelityLine line;
      for (const std::uint32_t c : m.columns) line.columns.push_back(columns_.name(c));
      const auto share = [&](double count) { return model_.total > 0 ? count / model_.total : 0; };
      for (std::size_t i = 0; i < counts[t].size(); ++i) {
        const double drawn = rows > 0 ? counts[t][i] / rows : 0;
        line.difference += std::abs(drawn - share(m.counts[i])) / 2;
        line.noise += share(m.deviation) * std::sqrt(2 / M_PI) / 2;
        if (m.columns.size() > 1) continue;
        line.released.push_back(share(m.counts[i]));
        line.drawn.push_back(drawn);
      }
      if (m.columns.size() == 1)
        for (std::uint32_t l = 0; l < model_.columns[m.columns[0]].levels; ++l)
          line.labels.push_back(label(m.columns[0], l));
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::string label(std::size_t column, std::uint32_t level) const {
    const std::vector<std::uint32_t>& all = model_.columns[column].level;
    const auto first = std::find(all.begin(), all.end(), level);
    const auto last = std::find(all.rbegin(), all.rend(), level);
    if (first == all.end()) return {};
    const auto from = static_cast<std::uint32_t>(first - all.begin());
    const auto to = static_cast<std::uint32_t>(all.rend() - last) - 1;
    if (from == to) return columns_.label(column, from);
    return columns_.is_numeric(column)
               ? columns_.label(column, from) + " … " + columns_.label(column, to)
               : "all others";
  }

  SynthesisModel model_;
  std::shared_ptr<const Encoder> encoder_;
  CellColumns columns_;
  MarkovModel markov_;
};

void check(const SynthesisModel& model, const Facts& facts) {
  if (!facts.encoder || model.bins < 1 || model.bins > kMostStoredBins) does_not_fit();
  const CellColumns columns(*facts.encoder, model.bins);
  if (model.columns.size() != columns.columns() ||
      model.measured.size() != model.potentials.size() || model.measured.size() > kMostTerms ||
      !(std::isfinite(model.total)))
    does_not_fit();
  std::vector<std::uint32_t> levels;
  std::vector<ColumnPair> edges;
  double tables = 0;  // of groups: larger than what the file says of them
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    const ColumnLevels& c = model.columns[j];
    if (c.levels < 1 || c.levels > columns.cells(j) || c.level.size() != columns.cells(j) ||
        c.share.size() != columns.cells(j))
      does_not_fit();
    std::vector<bool> used(c.levels);
    for (std::size_t cell = 0; cell < c.level.size(); ++cell) {
      if (c.level[cell] >= c.levels || !(c.share[cell] >= 0 && c.share[cell] <= 1)) does_not_fit();
      used[c.level[cell]] = true;
    }
    if (std::find(used.begin(), used.end(), false) != used.end()) does_not_fit();
    levels.push_back(c.levels);
  }
  for (std::size_t t = 0; t < model.measured.size(); ++t) {
    const Marginal& m = model.measured[t];
    if (m.columns.empty() || m.columns.back() >= levels.size() ||
        std::adjacent_find(m.columns.begin(), m.columns.end(), std::greater_equal<>()) !=
            m.columns.end() ||
        !(m.deviation > 0) || !std::isfinite(m.deviation))
      does_not_fit();
    double cells = 1;
    for (const std::uint32_t c : m.columns) cells *= levels[c];
    if (!m.groups.empty()) {
      // Before tables of this size are made.
      tables += cells;
      if (m.groups.size() != m.columns.size() || !(tables <= kMostGrouped)) does_not_fit();
      cells = 1;
      for (std::size_t i = 0; i < m.groups.size(); ++i) {
        if (m.groups[i].size() != levels[m.columns[i]]) does_not_fit();
        const std::uint32_t last = *std::max_element(m.groups[i].begin(), m.groups[i].end());
        if (last >= m.groups[i].size()) does_not_fit();
        cells *= last + 1.0;
      }
    }
    if (static_cast<double>(m.counts.size()) != cells ||
        model.potentials[t].size() != m.counts.size())
      does_not_fit();
    for (const double x : m.counts)
      if (!std::isfinite(x)) does_not_fit();
    for (const double x : model.potentials[t])
      if (!(std::abs(x) <= kMostStoredPotential)) does_not_fit();
    if (edges.size() + m.columns.size() * m.columns.size() > kMostEdges) does_not_fit();
    add_edges(m.columns, edges);
  }
  const double tree = junction_cells(levels, edges);
  if (tree > MarkovModel::kMostCells ||
      tree * static_cast<double>(model.measured.size()) > kMostWork)
    does_not_fit();
}

}  // namespace

std::unique_ptr<Model> synthesis_generator(SynthesisModel model, const Facts& facts) {
  check(model, facts);
  return std::make_unique<SynthesisGenerator>(std::move(model), facts);
}

std::unique_ptr<Model> load_synthesis(const Files& files, Facts& facts) {
  const json j = model_json(files);
  SynthesisModel model;
  try {
    model.bins =
        static_cast<std::uint32_t>(json_count(j.at("bins"), "the number of bins", kMostStoredBins));
    model.total = json_number(j.at("total"), "the number of records");
    for (const json& c : j.at("columns")) {
      ColumnLevels& column = model.columns.emplace_back();
      column.levels = static_cast<std::uint32_t>(
          json_count(c.at("levels"), "the levels of a column", CellColumns::kMostCells));
      column.level = json_counts(c.at("level"), "the level of a cell");
      c.at("share").get_to(column.share);
    }
    for (const json& t : j.at("terms")) {
      Marginal& m = model.measured.emplace_back();
      m.columns = json_counts(t.at("columns"), "a column of a marginal");
      t.at("counts").get_to(m.counts);
      m.deviation = json_number(t.at("deviation"), "the noise of a marginal");
      if (t.contains("groups"))
        for (const json& group : t.at("groups"))
          m.groups.push_back(json_counts(group, "the group of a level"));
      t.at("potential").get_to(model.potentials.emplace_back());
    }
  } catch (const json::exception&) {
    does_not_fit();
  }
  return synthesis_generator(std::move(model), facts);
}

}  // namespace sotto
