#include "sotto/core/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace sotto {
namespace {

constexpr std::chrono::milliseconds kRedrawTerminal{100};
constexpr std::chrono::seconds kRedrawPlain{5};

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(std::ceil(std::max(0.0, seconds)));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m {:02}s", s / 60, s % 60);
  return fmt::format("{}h {:02}m", s / 3600, s / 60 % 60);
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  terminal_ = options_.terminal.value_or(stderr_is_terminal());
  if (options_.width <= 0) options_.width = terminal_ ? terminal_width() : 80;
  if (!options_.write) {
    options_.write = [](const std::string& text) {
      // Progress is decoration: a closed standard error must not stop the work.
      [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    };
  }
  if (!options_.now) options_.now = [] { return std::chrono::steady_clock::now(); };
  start_ = last_ = options_.now();
}

Progress::~Progress() {
  if (options_.enabled && drawn_ && !finished_ && terminal_) options_.write("\n");
}

void Progress::advance(std::uint64_t done, const std::string& note) {
  done_ = done;
  note_ = note;
  if (!options_.enabled || finished_) return;
  const Time now = options_.now();
  const auto wait = terminal_ ? std::chrono::nanoseconds(kRedrawTerminal)
                              : std::chrono::nanoseconds(kRedrawPlain);
  if (now - last_ < wait) return;
  draw(now);
}

void Progress::finish(const std::string& note) {
  if (options_.total > 0 && !finished_) done_ = options_.total;
  if (!note.empty()) note_ = note;
  stop();
}

void Progress::stop() {
  if (finished_) return;
  // Short work that never drew anything stays silent.
  if (options_.enabled && drawn_) {
    draw(options_.now());
    if (terminal_) options_.write("\n");
  }
  finished_ = true;
}

void Progress::draw(Time now) {
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  options_.write(terminal_ ? "\r\x1b[K" + bar(elapsed) : bar(elapsed) + "\n");
  last_ = now;
  drawn_ = true;
}

std::string Progress::bar(double elapsed) const {
  const std::string note = note_.empty() ? "" : "  " + note_;
  if (options_.total == 0)
    return fmt::format("{} {}  {}{}", options_.label, done_, format_duration(elapsed), note);
  const double part =
      std::min(1.0, static_cast<double>(done_) / static_cast<double>(options_.total));
  const double fresh = static_cast<double>(done_) - static_cast<double>(options_.first);
  const std::string eta =
      fresh > 0 && done_ < options_.total
          ? fmt::format(
                "ETA {}",
                format_duration(elapsed * static_cast<double>(options_.total - done_) / fresh))
          : format_duration(elapsed);
  const std::string tail =
      fmt::format(" {:3.0f}% {}/{}  {}{}", 100 * part, done_, options_.total, eta, note);
  if (!terminal_) return options_.label + tail;
  const int room =
      std::clamp(options_.width - static_cast<int>(options_.label.size() + tail.size()) - 4, 0, 40);
  if (room < 5) return options_.label + tail;
  const int filled = static_cast<int>(std::lround(part * room));
  return fmt::format("{} [{}{}]{}", options_.label,
                     std::string(static_cast<std::size_t>(filled), '#'),
                     std::string(static_cast<std::size_t>(room - filled), '-'), tail);
}

}  // namespace sotto
