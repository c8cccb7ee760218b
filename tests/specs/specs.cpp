// Random specifications against all accountants, as many as one likes: sotto_specs --specs N --seed
// S [--limit SECONDS] [--show]
//
// Question i has the seed S + i, so runs with different ranges can go side by side and a finding
// can be asked again with --specs 1 --show. Ends with 1 when there was a contradiction, with 3 when
// a question did not end (its seed is printed).
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "specs/contradictions.hpp"

namespace {

char current[32];  // the seed, as text: all that a signal handler may still print

extern "C" void hang(int) {
  const char text[] = " does not end\n";
  (void)!write(STDOUT_FILENO, current, std::strlen(current));
  (void)!write(STDOUT_FILENO, text, sizeof text - 1);
  _exit(3);
}

// The handler comes after that much processor time of this process.
void watch(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const itimerval timer{{0, 0}, {whole, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t specs = 1000, seed = 1;
  bool show = false;
  sotto::specs::Limits limits;
  CLI::App app("Random specifications against all accountants");
  app.add_option("--specs", specs, "how many");
  app.add_option("--seed", seed, "of the first one");
  app.add_option("--limit", limits.seconds, "seconds of processor time for one question");
  app.add_flag("--show", show, "print every question and the processor time it took");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPROF, hang);
  sotto::specs::Findings all;
  for (std::uint64_t i = 0; i < specs; ++i) {
    std::snprintf(current, sizeof current, "seed %llu", static_cast<unsigned long long>(seed + i));
    watch(20 * limits.seconds);
    if (show) {
      const auto q = sotto::specs::random_question(seed + i);
      fmt::print("seed {}: delta {} {}\n", seed + i, q.delta, to_json(q.spec).dump());
      std::fflush(stdout);
    }
    const std::clock_t start = std::clock();
    const auto found = sotto::specs::examine(seed + i, limits);
    if (show)
      fmt::print("  {:.2f} s\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    for (const std::string& c : found.contradictions) fmt::print("seed {}: {}\n", seed + i, c);
    for (const std::string& c : found.slow) fmt::print("seed {}: {}\n", seed + i, c);
    std::fflush(stdout);
    all.add(found);
  }
  fmt::print(
      "{} specifications, {} questions, {} answers, {} of them two-sided; slowest {:.2f} s: {}\n",
      specs, all.asked, all.answered, all.two_sided, all.slowest, all.slowest_question);
  for (const auto& [what, seconds] : all.seconds) fmt::print("  {:.1f} s: {}\n", seconds, what);
  fmt::print("{} contradictions, {} questions above the limit of time\n", all.contradictions.size(),
             all.slow.size());
  return all.contradictions.empty() ? 0 : 1;
}
