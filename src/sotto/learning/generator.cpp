#include "sotto/learning/generator.hpp"

#include "sotto/core/error.hpp"

namespace sotto {

std::vector<double> Generator::apply(const Block&) const {
  throw Unsupported("a generator draws new records and says nothing of others",
                    "sotto synthesize --model DIR draws them");
}

}  // namespace sotto
