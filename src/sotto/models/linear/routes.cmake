# The routes to privacy that need no certified minimiser, and the list of them all. Paths are relative to src/sotto/models.
set(SOTTO_ROUTE_SOURCES
  linear/candidates_file.cpp linear/exponential_route.cpp linear/functional_mechanism.cpp linear/input_perturbation.cpp linear/linear_routes.cpp
  linear/minibatch_gradient.cpp linear/row_selection.cpp linear/sample_aggregate.cpp linear/sufficient_statistics.cpp)
set(SOTTO_ROUTE_HEADERS
  linear/detail/candidates_file.hpp linear/detail/exponential_route.hpp linear/detail/functional_mechanism.hpp linear/detail/input_perturbation.hpp linear/linear_route.hpp
  linear/linear_routes.hpp linear/detail/minibatch_gradient.hpp linear/record_sums.hpp linear/detail/row_selection.hpp linear/sample_aggregate.hpp
  linear/detail/sufficient_statistics.hpp)
set(SOTTO_ROUTE_TESTS
  linear/exponential_route_test.cpp linear/functional_mechanism_test.cpp linear/input_perturbation_test.cpp
  linear/linear_routes_test.cpp linear/minibatch_gradient_test.cpp linear/sample_aggregate_test.cpp
  linear/sufficient_statistics_test.cpp linear/training_stream_test.cpp)
