#include "sotto/deep/rows/rehearsal.hpp"

#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "sotto/core/error.hpp"

namespace sotto::deep::rows {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMostSeconds = 600;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Every piece of memory on pages of its own; the page before it holds the length. Memory is locked
// from the first byte of a page on.
class Pages final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const override {
    const c10::Device cpu(c10::kCPU);
    if (bytes == 0) return {nullptr, nullptr, &release, cpu};
    const std::size_t total = whole_pages(bytes) + kPage;
    void* const at =
        mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    std::memcpy(at, &total, sizeof total);
    char* const data = static_cast<char*>(at) + kPage;
    return {data, data, &release, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }

 private:
  static void release(void* data) {
    if (data == nullptr) return;
    char* const at = static_cast<char*>(data) - kPage;
    std::size_t total = 0;
    std::memcpy(&total, at, sizeof total);
    munmap(at, total);
  }
};

void protect(const c10::Storage& storage, int protection) {
  void* const data = storage.data();
  if (storage.nbytes() == 0 || reinterpret_cast<std::uintptr_t>(data) % kPage != 0) return;
  mprotect(data, whole_pages(storage.nbytes()), protection);
}

class PageLocks final : public Locks {
 public:
  explicit PageLocks(Pass& pass) : pass_(pass) {}
  void open(const torch::Tensor& tensor) override {
    protect(tensor.storage(), PROT_READ | PROT_WRITE);
    note(tensor);
  }
  void note(const torch::Tensor& tensor) override {
    if (tensor.has_storage()) touched_.push_back(tensor.storage());
  }
  void close() override {
    for (const c10::Storage& s : touched_) {
      const Memory* m = pass_.memory().find(s.unsafeGetStorageImpl());
      if (m != nullptr && m->layout.run != 0) protect(s, PROT_NONE);
    }
    touched_.clear();
  }
  void open_all() {
    pass_.memory().for_each([](Memory& m) {
      if (const auto storage = m.alive.lock(); storage != nullptr && m.layout.run != 0)
        protect(c10::Storage(storage), PROT_READ | PROT_WRITE);
    });
  }

 private:
  Pass& pass_;
  std::vector<c10::Storage> touched_;
};

enum Verdict { kGood = 0, kRefused = 1, kFault = 2, kFailed = 3 };

int verdict_pipe = -1;
const Pass* rehearsed = nullptr;

void say(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(verdict_pipe, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

// Only what a signal handler may do.
void on_fault(int) {
  const std::string* const last = rehearsed == nullptr ? nullptr : rehearsed->operation();
  if (last != nullptr) (void)!write(verdict_pipe, last->data(), last->size());
  _exit(kFault);
}

[[noreturn]] void play(const PublicTensors& known, const RecordTensors& made_up,
                       const LossesOf& losses) {
  static Pages pages;
  try {
    at::set_num_threads(1);             // the other threads stayed in the parent
    c10::SetCPUAllocator(&pages, 255);  // nobody comes before it
    RecordTensors batch;
    std::vector<torch::Tensor> tensors;
    for (const auto& [tensor, axis] : made_up) {
      tensors.push_back(tensor.detach().clone());
      batch.emplace_back(tensors.back(), axis);
    }
    Pass pass(known, batch);
    PageLocks locks(pass);
    pass.lock_with(&locks);
    for (const auto& tensor : tensors) locks.note(tensor);
    for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, on_fault);
    rehearsed = &pass;
    locks.close();
    torch::Tensor result;
    {
      const Pass::Watch watch(pass);
      result = losses(tensors);
    }
    locks.open_all();
    pass.finish(result);
    _exit(kGood);
  } catch (const Error& e) {
    say(fmt::format("{}\n{}", e.what(), e.hint()));
    _exit(dynamic_cast<const NotRowWise*>(&e) != nullptr ? kRefused : kFailed);
  } catch (const std::exception& e) {
    say(e.what());
    _exit(kFailed);
  }
}

// What the child said, until it has nothing more to say.
std::string listen(int pipe, pid_t child) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = poll(&waiting, 1, kMostSeconds * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      kill(child, SIGKILL);
      return "it did not end";
    }
    const ssize_t n = read(pipe, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

void rehearse(const PublicTensors& known, const RecordTensors& made_up, const LossesOf& losses) {
  int ends[2];
  if (pipe(ends) != 0)
    throw Error(ErrorCode::storage, "no pipe for the rehearsal of the forward pass");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    verdict_pipe = ends[1];
    play(known, made_up, losses);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw Error(ErrorCode::storage, "no process for the rehearsal of the forward pass");
  }
  const std::string said = listen(ends[0], child);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
  if (verdict == kGood) return;
  if (verdict == kFault)
    throw NotRowWise(
        fmt::format(
            "the forward pass reads or writes records past LibTorch's operations (after {})",
            said.empty() ? "its start" : said),
        "use operations on whole batches instead of data_ptr, accessor, item, print and threads of "
        "your own");
  const std::size_t line = said.find('\n');
  if (verdict == kRefused)
    throw NotRowWise(said.substr(0, line), line == std::string::npos ? "" : said.substr(line + 1));
  throw NotRowWise(fmt::format("the forward pass cannot be rehearsed: {}", said.substr(0, line)),
                   "it must run on made-up records in a child process, on one thread");
}

}  // namespace sotto::deep::rows
