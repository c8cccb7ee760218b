#include "shell/shell.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>

#include "shell/app.hpp"
#include "shell/interruption.hpp"
#include "shell/output_file.hpp"
#include "shell/workshop.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/option.hpp"
#include "sotto/core/text.hpp"

namespace sotto::cli {
namespace {

// Nothing of a command is worth saving when the user stops it: no file is published before it is
// whole.
void stop(int) {
  remove_unfinished_files();
  const bool tidied = remove_workshop();
  constexpr char text[] = "sotto: interrupted\n",
                 removed[] = "sotto: the files that were made for this are removed\n";
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, text, sizeof text - 1);
  if (tidied) n = ::write(STDERR_FILENO, removed, sizeof removed - 1);
  write_interruption_note();
  ::_exit(exit_code(ErrorCode::interrupted));
}

int report(ErrorCode code, const std::string& message, const std::string& hint) {
  std::string text = fmt::format("sotto: error: {}\n", visible_lines(for_command_line(message)));
  if (!hint.empty()) text += fmt::format("hint: {}\n", visible_lines(for_command_line(hint)));
  // Nothing can be done when standard error is closed too.
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
  return exit_code(code);
}

int run_words(int argc, char** argv) {
  Output out(descriptor_sink(STDOUT_FILENO, "standard output"));
  Output err(descriptor_sink(STDERR_FILENO, "standard error"));
  std::optional<Rng> rng;
  Context context{
      .rng = [&]() -> Rng& { return rng ? *rng : rng.emplace(); }, .out = out, .err = err};
  run({argv + 1, argv + argc}, context);
  return 0;
}

}  // namespace

int guarded(const std::function<int()>& work) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write, told like any other
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  // Under nohup it is ignored, and stays so.
  if (std::signal(SIGHUP, stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  try {
    return work();
  } catch (const Error& e) {
    return report(e.code(), e.what(), e.hint());
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::internal, "out of memory", "");
  } catch (const std::filesystem::filesystem_error& e) {
    // A name that is too long, or a folder that may not be looked into.
    return report(ErrorCode::storage,
                  fmt::format("'{}': {}", e.path1().string(), e.code().message()), "");
  } catch (const std::exception& e) {
    return report(ErrorCode::internal, fmt::format("internal error: {}", e.what()),
                  "this is a defect of sotto; please report it with the command you ran");
  } catch (...) {
    return report(ErrorCode::internal, "internal error",
                  "this is a defect of sotto; please report it");
  }
}

int run_shell(int argc, char** argv) {
  return guarded([&] { return run_words(argc, argv); });
}

}  // namespace sotto::cli
