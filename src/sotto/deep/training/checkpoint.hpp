// Checkpoints: the whole state of a run in one file that is there completely or not at all.
//
// What       save_checkpoint writes beside the file, syncs and renames; load_checkpoint reads it
//            back into a trainer of the same plan.
// Guarantee  A kill at any moment leaves the old checkpoint or the new one. The state holds the
//            number of steps behind it, so the event of the resumed run counts exactly the steps
//            that lead to the released model. Steps that ran after the checkpoint and were lost
//            left no trace outside the process: they were no release, and running them again, with
//            fresh randomness, is one.
//            Nothing of the generator is stored: reusing noise for another batch would break the
//            guarantee, fresh noise never does.
// Method     Safetensors with the trainer's state (trainer.hpp) and notes of the caller, such as
//            the key of a reservation.
// Numerics   Tensors are stored bit by bit.
// Reference  docs/math/private-training.md, section "Interruptions".
#pragma once

#include <map>
#include <string>

#include "sotto/deep/training/trainer.hpp"

namespace sotto::deep {

using Notes = std::map<std::string, std::string>;

void save_checkpoint(const std::string& path, const Trainer& trainer, const Notes& notes = {});
// Throws DataError when the file cannot be used, VerificationFailed when it belongs to another run.
// Returns the notes.
Notes load_checkpoint(const std::string& path, Trainer& trainer);
// The notes alone.
Notes checkpoint_notes(const std::string& path);

}  // namespace sotto::deep
