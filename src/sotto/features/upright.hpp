// Upright: grey images moved to the middle, made upright and of one size.
//
// What       Handwriting leans and is larger or smaller than its neighbour's. upright() takes the
//            most of that away, so that few examples tell what an image shows.
// Guarantee  None needed: a public function of one image, and of no other. The constants are none
//            of the data's: a fifth and a seventh of the side.
// Method     The first two moments of the ink: its centre goes to the middle of the image, rows are
//            shifted until rows and columns are uncorrelated, then both are scaled most of the way
//            (to the power .7, by at most a factor 1.4) to standard deviations of side/5 for rows
//            and side/7 for columns. Bilinear interpolation, no ink outside. An image without ink
//            stays as it is.
// Numerics   Double precision, results rounded to bytes.
// Reference  docs/math/pate.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto::features {

// pixels: images × side × side bytes; as many come out. Throws InvalidArgument for other sizes.
std::vector<std::uint8_t> upright(std::span<const std::uint8_t> pixels, std::size_t side,
                                  unsigned threads = 0);

}  // namespace sotto::features
