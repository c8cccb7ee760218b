# Plans, trainer, checkpoints and the first networks.
set(SOTTO_TRAINING_SOURCES
  training/checkpoint.cpp training/gradient_noise.cpp training/iterate.cpp training/memory.cpp training/optimizer.cpp training/plan.cpp
  training/records.cpp training/safetensors.cpp training/sampler.cpp training/seats.cpp training/trainer.cpp models/defaults.cpp models/network.cpp models/torchscript.cpp)
set(SOTTO_TRAINING_HEADERS
  training/checkpoint.hpp training/gradient_noise.hpp training/iterate.hpp training/memory.hpp training/optimizer.hpp training/plan.hpp
  training/records.hpp training/safetensors.hpp training/sampler.hpp training/seats.hpp training/step_stream.hpp training/trainer.hpp models/defaults.hpp models/network.hpp)
set(SOTTO_TRAINING_TESTS training/prepare_test.cpp training/replay_test.cpp training/rounding_test.cpp training/sampler_test.cpp training/training_test.cpp training/untrained_test.cpp)

# Headers of LibTorch cost more than the code: files that belong together are compiled together.
foreach(source IN LISTS SOTTO_TRAINING_SOURCES)
  if(source MATCHES "^training/")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP training)
  endif()
endforeach()
set_source_files_properties(models/network.cpp models/defaults.cpp PROPERTIES UNITY_GROUP models)
