# Options of the build and the compiler flags of our own targets (never exported to consumers).
option(SOTTO_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SOTTO_BUILD_BENCH "Build the benchmarks" OFF)
option(SOTTO_BUILD_FUZZ "Build the libFuzzer entry points (needs Clang)" OFF)
option(SOTTO_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(SOTTO_SANITIZE "" CACHE STRING "Sanitizers for our targets, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  find_program(SOTTO_CCACHE ccache)
  if(SOTTO_CCACHE)
    # A file that uses precompiled headers is cached only if ccache may trust them (and GCC names them in its output).
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SOTTO_CCACHE})
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endif()

# Floating point: no contraction into FMA and no -ffast-math, because accounting proofs count rounding errors
# operation by operation and results must not depend on the machine.
function(sotto_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
    -fstack-protector-strong $<$<BOOL:${SOTTO_WARNINGS_AS_ERRORS}>:-Werror>)
  # _FORTIFY_SOURCE needs optimised code, which tests are not (sotto_compile_quickly).
  set(quick $<OR:$<CONFIG:Debug>,$<AND:$<CONFIG:Release>,$<BOOL:$<TARGET_PROPERTY:SOTTO_QUICK>>>>)
  target_compile_definitions(${target} PRIVATE $<$<NOT:${quick}>:_FORTIFY_SOURCE=2> _GLIBCXX_ASSERTIONS)
  if(SOTTO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SOTTO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${SOTTO_SANITIZE}>)
  endif()
endfunction()

# LibTorch, and the build of OpenBLAS that shares its thread pool: with the pthread build the two pools fight and products of
# matrices take two to three times as long. An executable finds it first, whatever the system's default BLAS is.
find_package(Torch 1.13 QUIET)
option(SOTTO_BUILD_DEEP "Build deep learning (needs LibTorch)" ${Torch_FOUND})
find_file(SOTTO_OPENBLAS_OPENMP libblas.so.3 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
function(sotto_openblas_openmp target)
  if(SOTTO_OPENBLAS_OPENMP)
    get_filename_component(folder ${SOTTO_OPENBLAS_OPENMP} DIRECTORY)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)  # an RPATH counts for the libraries of libraries too
    set_target_properties(${target} PROPERTIES BUILD_RPATH ${folder} INSTALL_RPATH ${folder})
  endif()
endfunction()
