# sotto_precompile(target [TESTS]): the headers that most files include are parsed once for all targets instead of once a
# file (half of the time of a build from nothing). Sources still include what they use: the preset fuzz builds
# without, and so do the checks that each header compiles alone.
option(SOTTO_PRECOMPILE "Precompile common headers" ON)

set(SOTTO_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional>
  <random> <span> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>
  ${PROJECT_SOURCE_DIR}/src/sotto/core/detail/made_once.hpp)

# What the parsed headers were told must be told to everybody who shares them.
function(sotto_precompiled_definitions target shared)
  set(libraries fmt::fmt)
  if(shared STREQUAL sotto_precompiled_tests)
    list(APPEND libraries GTest::gtest GTest::gmock)
  endif()
  foreach(library IN LISTS libraries)
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_OPTIONS>)
  endforeach()
endfunction()

# One code model for libraries and executables, so that they can share what was parsed.
function(sotto_precompiled name)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cpp CONTENT "// Only carries precompiled headers.\n")
  target_compile_features(${name} PRIVATE cxx_std_20)
  sotto_compile_options(${name})
  sotto_precompiled_definitions(${name} ${name})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# Tests are compiled oftener than they are run: less optimisation for them, all of it for what they test.
function(sotto_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

function(sotto_precompile target)
  if(NOT SOTTO_PRECOMPILE)
    return()
  endif()
  set(shared sotto_precompiled)
  if("TESTS" IN_LIST ARGN)
    set(shared sotto_precompiled_tests)
    sotto_compile_quickly(${target})
  endif()
  if(NOT TARGET ${shared})
    if(shared STREQUAL sotto_precompiled)
      sotto_precompiled(${shared} ${SOTTO_COMMON_HEADERS})
    else()
      sotto_precompiled(${shared} ${SOTTO_COMMON_HEADERS} <gtest/gtest.h> <gmock/gmock.h>)
      sotto_compile_quickly(${shared})
    endif()
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  sotto_precompiled_definitions(${target} ${shared})
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
