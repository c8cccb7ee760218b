# Plans, trainer, checkpoints and the first networks.
set(SOTTO_TRAINING_SOURCES
  training/alike_sizes.cpp training/checkpoint.cpp training/gradient_noise.cpp training/iterate.cpp training/memory.cpp training/optimizer.cpp training/plan.cpp
  training/records.cpp training/safetensors.cpp training/safetensors_layout.cpp training/sampler.cpp training/seats.cpp training/trainer.cpp training/trainer_prepare.cpp training/trainer_state.cpp training/trainer_thresholds.cpp models/defaults.cpp models/network.cpp models/network_options.cpp models/torchscript.cpp)
set(SOTTO_TRAINING_HEADERS
  training/alike_sizes.hpp training/checkpoint.hpp training/gradient_noise.hpp training/iterate.hpp training/detail/memory.hpp training/detail/records_in.hpp training/optimizer.hpp training/plan.hpp
  training/records.hpp training/safetensors.hpp training/safetensors_layout.hpp training/sampler.hpp training/seats.hpp training/detail/step_stream.hpp training/trainer.hpp models/detail/defaults.hpp models/network.hpp models/network_options.hpp)
set(SOTTO_TRAINING_TESTS training/fairness_test.cpp training/prepare_test.cpp training/replay_test.cpp training/row_by_row_test.cpp training/rounding_test.cpp training/safetensors_layout_test.cpp training/sampler_test.cpp training/sources_test.cpp training/training_test.cpp training/untrained_test.cpp models/network_options_test.cpp)

# What knows nothing of LibTorch does not pay for its headers.
set_source_files_properties(training/safetensors_layout.cpp models/network_options.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
