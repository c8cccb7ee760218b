#include "sotto/deep/training/checkpoint.hpp"

#include "sotto/core/certified_directory.hpp"
#include "sotto/core/whole_file.hpp"

namespace sotto::deep {
namespace {

constexpr const char* kNote = "note.";
constexpr std::size_t kMostBytes = std::size_t{64} << 30;  // weights, moments and averages

TensorFile read(const std::string& path) {
  return from_safetensors(read_whole_file(path, kMostBytes), path);
}

Notes notes_of(const TensorFile& file) {
  Notes notes;
  for (const auto& [key, value] : file.metadata)
    if (key.starts_with(kNote)) notes[key.substr(std::string_view(kNote).size())] = value;
  return notes;
}

}  // namespace

void save_checkpoint(const std::string& path, const Trainer& trainer, const Notes& notes) {
  TensorFile file = trainer.state();
  for (const auto& [key, value] : notes) file.metadata[kNote + key] = value;
  replace_secret(path, to_safetensors(file));
}

Notes load_checkpoint(const std::string& path, Trainer& trainer) {
  const TensorFile file = read(path);
  trainer.restore(file);
  return notes_of(file);
}

Notes checkpoint_notes(const std::string& path) { return notes_of(read(path)); }

}  // namespace sotto::deep
