// Templates of libraries that almost every file uses, compiled once in made_once.cpp instead of
// once a file (a fifth of a build). Comes with the precompiled headers
// (cmake/sotto_precompiled.cmake); without them each file makes its own.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
#if FMT_VERSION < 110000  // a function of the library from there on
extern template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                             fmt::format_args, fmt::detail::locale_ref);
#endif
