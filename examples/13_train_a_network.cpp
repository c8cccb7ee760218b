// A private network with its certificate: the same steps as for any other family.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "sotto/deep/family/network_family.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"

int main() {
  using namespace sotto;
  const std::filesystem::path place = std::filesystem::temp_directory_path() / "sotto_example_13";
  std::filesystem::remove_all(place);
  std::filesystem::create_directory(place);
  std::ofstream csv(place / "flowers.csv");
  csv << "length,kind\n";
  for (int i = 0; i < 600; ++i) csv << i % 60 << ',' << (i % 60 < 30 ? "iris" : "rose") << '\n';
  csv.close();

  const Schema schema = Schema::from_toml(
      "relation = \"add_remove\"\nrows = 600\n[columns.length]\ntype = \"numeric\"\nbounds = [0, "
      "60]\n[columns.kind]\n"
      "type = \"categorical\"\nrole = \"target\"\nvalues = [\"iris\", \"rose\"]\n");
  const Family family = deep::network_family();
  const auto request = make_request(family, "mlp", Budget::approximate(3, 1e-5),
                                    {{"hidden", {"16"}}, {"epochs", {"3"}}});
  const Facts facts = facts_for(family, schema, request);
  const auto plan = plan_training(family, facts, request);
  fmt::print("{}\n", plan->explain().words);

  Rng rng;
  const TrainedModel model = plan->run(*table_file(place / "flowers.csv", facts.encoder), rng);
  const Certificate certificate = certify_training(family, facts, *plan, model, 1e-5, rng);
  write_artifact(place / "model", model, facts, certificate);
  fmt::print("epsilon = {:.4f} at delta = {}\n", certificate.epsilon, certificate.delta);
  return certificate.epsilon <= 3 ? 0 : 1;
}
