# sotto_precompile(target [TORCH] [TESTS]): the headers that most files include are parsed once for all targets instead of
# once a file (half of the time of a build from nothing). TORCH: also those of LibTorch, which take twenty seconds. TESTS: also
# those of GoogleTest, and the target is compiled quickly (below). Sources still include what they use: the preset fuzz
# builds without, and so do the checks that each header compiles alone.
option(SOTTO_PRECOMPILE "Precompile common headers" ON)

set(SOTTO_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional>
  <random> <span> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>
  ${PROJECT_SOURCE_DIR}/src/sotto/core/detail/made_once.hpp)

# Tests, examples and replays are compiled oftener than they are run: no optimisation for them, all of it for what they
# call. Half of the time of compiling them was spent on it.
function(sotto_compile_quickly target)
  set_target_properties(${target} PROPERTIES SOTTO_QUICK ON)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# What the parsed headers were told must be told to everybody who shares them.
function(sotto_precompiled_definitions target tests)
  set(libraries fmt::fmt)
  if(tests)
    list(APPEND libraries GTest::gtest GTest::gmock)
  endif()
  foreach(library IN LISTS libraries)
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_OPTIONS>)
  endforeach()
endfunction()

function(sotto_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 P "TORCH;TESTS" "" "")
  if(P_TESTS)
    sotto_compile_quickly(${target})
  endif()
  if(NOT SOTTO_PRECOMPILE)
    return()
  endif()
  set(shared sotto_precompiled)
  set(headers ${SOTTO_COMMON_HEADERS})
  if(P_TORCH)
    string(APPEND shared _torch)
    list(APPEND headers <torch/torch.h>)
  endif()
  if(P_TESTS)
    string(APPEND shared _tests)
    list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
  endif()
  # One code model for libraries and executables, so that they can share it.
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  sotto_precompiled_definitions(${target} ${P_TESTS})

  # A library that only carries what was parsed. With LibTorch even an empty file takes four seconds, so there the first
  # target carries it for the others.
  get_property(carrier GLOBAL PROPERTY ${shared})
  if(carrier)
    target_precompile_headers(${target} REUSE_FROM ${carrier})
    return()
  endif()
  if(P_TORCH)
    set_property(GLOBAL PROPERTY ${shared} ${target})
    target_precompile_headers(${target} PRIVATE ${headers})
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${shared}.cpp CONTENT "// Only carries precompiled headers.\n")
  add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/generated/${shared}.cpp)
  target_compile_features(${shared} PRIVATE cxx_std_20)
  sotto_compile_options(${shared})
  if(P_TESTS)
    sotto_compile_quickly(${shared})
  endif()
  sotto_precompiled_definitions(${shared} ${P_TESTS})
  target_precompile_headers(${shared} PRIVATE ${headers})
  set_property(GLOBAL PROPERTY ${shared} ${shared})
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
