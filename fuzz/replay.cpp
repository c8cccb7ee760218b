// Runs a fuzzing entry point on every file of a corpus and on deterministic mutations of it,
// without libFuzzer.
//
//   x_fuzz_replay CORPUS [MUTATIONS]
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

const std::string* current = nullptr;

// A violated property aborts: show the input, so that it can be kept as a seed.
extern "C" void show_input(int) {
  std::fputs("the input, in hexadecimal: ", stderr);
  for (const char c : *current) std::fprintf(stderr, "%02x", static_cast<unsigned char>(c));
  std::fputc('\n', stderr);
}

void run(const std::string& input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// One to four small edits: change, insert, delete, repeat, or splice in a piece of another seed.
std::string mutated(const std::string& seed, const std::vector<std::string>& seeds,
                    std::mt19937_64& random) {
  std::string text = seed;
  for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 6) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1: text.insert(at, 1, "\",\n\r\0{}[]=.-e0"[random() % 15]); break;
      case 2: text.erase(at, 1 + random() % 8); break;
      case 3: text.insert(at, text.substr(at, 1 + random() % 16)); break;
      case 4: text.resize(at); break;
      default: {
        const std::string& other = seeds[random() % seeds.size()];
        if (!other.empty())
          text.insert(at, other.substr(random() % other.size(), 1 + random() % 40));
      }
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS]\n", argv[0]);
    return 2;
  }
  const unsigned long mutations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20'000;
  std::signal(SIGABRT, show_input);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s holds no seeds\n", argv[1]);
    return 1;
  }
  for (const std::string& seed : seeds) run(seed);
  std::mt19937_64 random(1);
  for (unsigned long i = 0; i < mutations; ++i)
    run(mutated(seeds[i % seeds.size()], seeds, random));
  std::printf("%zu seeds and %lu mutations\n", seeds.size(), mutations);
}
