# The minimiser of convex objectives and the routes to privacy that need one. Paths are relative to src/sotto/models.
set(SOTTO_CONVEX_SOURCES
  linear/convex_problem.cpp linear/limited_memory.cpp
  linear/minimiser.cpp
  linear/non_private_fit.cpp linear/objective_bound.cpp linear/objective_perturbation.cpp
  linear/output_perturbation.cpp)
set(SOTTO_CONVEX_HEADERS
  linear/detail/convex_problem.hpp linear/detail/limited_memory.hpp
  linear/detail/minimiser.hpp
  linear/detail/non_private_fit.hpp linear/detail/objective_bound.hpp linear/detail/objective_perturbation.hpp
  linear/detail/output_perturbation.hpp)
set(SOTTO_CONVEX_TESTS
  linear/limited_memory_test.cpp linear/minimiser_test.cpp linear/objective_outputs_test.cpp linear/objective_perturbation_test.cpp
  linear/output_perturbation_test.cpp)
