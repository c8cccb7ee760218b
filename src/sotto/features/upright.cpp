#include "sotto/features/upright.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto::features {
namespace {

constexpr double kRowSpread = 1.0 / 5, kColumnSpread = 1.0 / 7;  // of the side
constexpr double kPart = .7;                                     // of the way, as a power
constexpr double kMost = 1.4, kLeast = 1 / 1.4;                  // factors of size
constexpr std::size_t kUprightBlock = 256;                       // images

// Where a pixel of the result comes from: x + lean·y in the source, scaled around the centre.
struct Pose {
  double x = 0, y = 0;  // centre of the ink
  double lean = 0;
  double wide = 1, high = 1;  // pixels of the source in one of the result
};

double towards(double spread, double wanted) {
  return std::pow(std::clamp(spread / wanted, kLeast, kMost), kPart);
}

// False: there is no ink.
bool find_pose(const std::uint8_t* image, std::size_t side, Pose& pose) {
  double ink = 0, x = 0, y = 0;
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) {
      const double v = image[r * side + c];
      ink += v, x += v * static_cast<double>(c), y += v * static_cast<double>(r);
    }
  if (!(ink > 0)) return false;
  pose.x = x / ink, pose.y = y / ink;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) {
      const double v = image[r * side + c] / ink;
      const double dx = static_cast<double>(c) - pose.x, dy = static_cast<double>(r) - pose.y;
      xx += v * dx * dx, xy += v * dx * dy, yy += v * dy * dy;
    }
  pose.lean = yy > 1e-9 ? std::clamp(xy / yy, -1.0, 1.0) : 0;
  const double straight = std::max(xx - 2 * pose.lean * xy + pose.lean * pose.lean * yy, 0.0);
  const auto size = static_cast<double>(side);
  pose.wide = towards(std::sqrt(straight), kColumnSpread * size);
  pose.high = towards(std::sqrt(yy), kRowSpread * size);
  return true;
}

void draw(const std::uint8_t* image, std::size_t side, const Pose& pose, std::uint8_t* out) {
  const double middle = (static_cast<double>(side) - 1) / 2;
  const auto end = static_cast<std::ptrdiff_t>(side);
  const auto ink = [&](std::ptrdiff_t r, std::ptrdiff_t c) {
    return r >= 0 && r < end && c >= 0 && c < end ? static_cast<double>(image[r * end + c]) : 0.0;
  };
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) {
      const double dy = (static_cast<double>(r) - middle) * pose.high;
      const double y = pose.y + dy;
      const double x = pose.x + (static_cast<double>(c) - middle) * pose.wide + pose.lean * dy;
      const double left = std::floor(x), top = std::floor(y), fx = x - left, fy = y - top;
      const auto c0 = static_cast<std::ptrdiff_t>(left), r0 = static_cast<std::ptrdiff_t>(top);
      const double v = (1 - fy) * ((1 - fx) * ink(r0, c0) + fx * ink(r0, c0 + 1)) +
                       fy * ((1 - fx) * ink(r0 + 1, c0) + fx * ink(r0 + 1, c0 + 1));
      out[r * side + c] = static_cast<std::uint8_t>(std::clamp(std::lround(v), 0L, 255L));
    }
}

}  // namespace

std::vector<std::uint8_t> upright(std::span<const std::uint8_t> pixels, std::size_t side,
                                  unsigned threads) {
  const std::size_t size = side * side;
  if (side == 0 || side > 4096 || pixels.size() % size != 0)
    throw InvalidArgument("these are not whole images of this size");
  std::vector<std::uint8_t> result(pixels.begin(), pixels.end());
  const std::size_t images = pixels.size() / size;
  parallel_blocks((images + kUprightBlock - 1) / kUprightBlock, threads,
                  [&](std::size_t b, unsigned) {
                    for (std::size_t i = b * kUprightBlock;
                         i < std::min(images, (b + 1) * kUprightBlock); ++i) {
                      Pose pose;
                      if (find_pose(pixels.data() + i * size, side, pose))
                        draw(pixels.data() + i * size, side, pose, result.data() + i * size);
                    }
                  });
  return result;
}

}  // namespace sotto::features
