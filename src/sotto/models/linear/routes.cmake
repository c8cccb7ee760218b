# The routes to privacy that need no certified minimiser, and the list of them all. Paths are relative to src/sotto/models.
set(SOTTO_ROUTE_SOURCES
  linear/linear_routes.cpp linear/sufficient_statistics.cpp)
set(SOTTO_ROUTE_HEADERS
  linear/linear_route.hpp linear/linear_routes.hpp linear/sufficient_statistics.hpp)
set(SOTTO_ROUTE_TESTS
  linear/sufficient_statistics_test.cpp)
