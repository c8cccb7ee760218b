// Core only: reads a specification, writes an event, draws from the generator.
#include <iostream>
#include <nlohmann/json.hpp>
#include <sotto/core/event_json.hpp>
#include <sotto/core/rng.hpp>
#include <sotto/core/spec.hpp>
#include <sotto/core/version.hpp>

int main() {
  const sotto::Spec spec = sotto::parse_spec(
      R"({"schema":1,"relation":"add_remove","events":[{"gaussian":{"noise_multiplier":1.5}}]})");
  sotto::Rng rng;
  const bool alive = rng.next_u64() != rng.next_u64();
  std::cout << sotto::to_json(spec.event()).dump() << ' '
            << (alive && rng.secure() ? "secure" : "broken") << '\n';
}
