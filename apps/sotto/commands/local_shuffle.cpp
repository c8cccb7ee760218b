// sotto local shuffle: drops order, sender and time of reports.
#include <fmt/format.h>

#include "local.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/local/server/shuffler.hpp"

namespace sotto::cli {
namespace {

using namespace sotto::local;
using Json = nlohmann::ordered_json;

void run_local_shuffle(const Arguments& arguments, Context& context) {
  std::optional<Shuffler> shuffler;
  collect_into(arguments.positionals(), context,
               {.declaration = [&](const Declaration& d) -> const Declaration& {
                  if (!shuffler) shuffler.emplace(d);
                  return shuffler->declaration();
                },
                .record = [&](const Record& r) { shuffler->take(r); },
                .refuse =
                    [&](Refusal why) {
                      if (shuffler) shuffler->refuse(why);
                    }});
  if (!shuffler) throw DataError("there are no reports", "reports are made by sotto local report");
  const std::uint64_t n = shuffler->reports();
  const Json central =
      central_json(shuffler->declaration(), n, Delta(arguments.number("delta")), context);
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  const std::string path = arguments.text("out");
  OutputFile file(path);
  shuffler->write(seeded ? *seeded : context.rng(),
                  [&](std::string_view bytes) { file.write(bytes); });
  file.publish();
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"reports", n},
                                   {"refused", shuffler->refused()},
                                   {"out", path},
                                   {"central", central}}
                                  .dump());
    return;
  }
  context.out.print(
      "{} reports by {} in {}, in random order and without sender and epoch, {} "
      "refused\n",
      n, shuffler->declaration().protocol, path, shuffler->refused());
  print_central(central, context);
}

}  // namespace

Command local_shuffle_command() {
  return {.name = "shuffle",
          .summary = "drop the order, sender and time of reports",
          .description =
              "Writes the reports of all files in a uniformly random order, without ids and "
              "epochs. Whoever sees only this has a central guarantee that is much smaller than "
              "the local epsilon, if the shuffler is trusted. Second reports of a client are "
              "refused here, because later nobody can tell.",
          .examples = {{"Between the devices and the collector",
                        "sotto local shuffle reports.bin --out shuffled.bin"}},
          .positionals = {{.name = "FILE", .help = "reports", .type = Type::file, .many = true}},
          .options = {{.name = "out",
                       .type = Type::file,
                       .value = "FILE",
                       .help = "the shuffled reports, written whole or not at all",
                       .required = true},
                      {.name = "delta",
                       .type = Type::number,
                       .value = "D",
                       .help = "of the central guarantee",
                       .fallback = "1e-8",
                       .range = Range::inside(0, 1)},
                      json_option(),
                      insecure_seed_option()},
          .run = run_local_shuffle};
}

}  // namespace sotto::cli
