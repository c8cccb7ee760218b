// Detail: what reports of a square wave are counted in.
#pragma once

#include <memory>

#include "sotto/local/client/numbers.hpp"
#include "sotto/local/server/numbers.hpp"

namespace sotto::local {

std::unique_ptr<Aggregator> make_wave_aggregator(const Window& window);

}  // namespace sotto::local
