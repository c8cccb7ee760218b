// A private linear model with its certificate, in a directory that `sotto verify` accepts.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/models/linear/linear_family.hpp"

int main() {
  using namespace sotto;
  const std::filesystem::path place = std::filesystem::temp_directory_path() / "sotto_example_12";
  std::filesystem::remove_all(place);
  std::filesystem::create_directory(place);
  std::ofstream csv(place / "people.csv");
  csv << "age,income\n";
  for (int i = 0; i < 1000; ++i) csv << 20 + i % 50 << ',' << 1000 + 40 * (i % 50) << '\n';
  csv.close();

  // Public facts are declared, what is wanted is asked for, and the plan knows what it costs.
  const Schema schema = Schema::from_toml(
      "relation = \"add_remove\"\nrows = 1000\n[columns.age]\ntype = \"numeric\"\nbounds = [18, "
      "90]\n"
      "[columns.income]\ntype = \"numeric\"\nrole = \"target\"\nbounds = [0, 5000]\n");
  const Family family = linear_family();
  const auto request = make_request(family, "linear", Budget::approximate(1, 1e-6));
  const Facts facts = facts_for(family, schema, request);
  const auto plan = plan_training(family, facts, request);
  fmt::print("{}\n", plan->explain().words);

  // Only now are records read. What comes out carries its event; nothing else can be written.
  Rng rng;
  const TrainedModel model = plan->run(*table_file(place / "people.csv", facts.encoder), rng);
  const Certificate certificate = certify_training(family, facts, *plan, model, 1e-6, rng);
  write_artifact(place / "model", model, facts, certificate);
  fmt::print("epsilon = {:.4f} at delta = {}\n", certificate.epsilon, certificate.delta);
  return certificate.epsilon <= 1 ? 0 : 1;
}
