# Files of the privacy loss distribution accountant, relative to src/sotto/accounting.
set(SOTTO_PLD_SOURCES pld/catalogue.cpp pld/compose.cpp pld/few_losses.cpp pld/fft.cpp pld/grid.cpp pld/law.cpp pld/merge.cpp pld/moments.cpp pld/noise_laws.cpp
                      pld/piece.cpp pld/pld_accountant.cpp pld/profile.cpp pld/profile_refine.cpp pld/quadrature.cpp pld/two_point.cpp)
set(SOTTO_PLD_HEADERS pld/catalogue.hpp pld/compose.hpp pld/detail/few_losses.hpp pld/detail/fft.hpp pld/grid.hpp pld/law.hpp pld/detail/merge.hpp pld/moments.hpp pld/noise_laws.hpp
                      pld/piece.hpp pld/pld_accountant.hpp pld/profile.hpp pld/detail/quadrature.hpp pld/detail/two_point.hpp)
set(SOTTO_PLD_TESTS pld/engine_test.cpp pld/few_losses_test.cpp pld/known_answers_test.cpp pld/pld_accountant_test.cpp)
# Products of complex numbers without the recovery of infinities: all factors are finite here.
set_source_files_properties(pld/fft.cpp pld/compose.cpp PROPERTIES COMPILE_OPTIONS "-O3;$<$<CXX_COMPILER_ID:GNU>:-fcx-limited-range>" SKIP_PRECOMPILE_HEADERS ON)
