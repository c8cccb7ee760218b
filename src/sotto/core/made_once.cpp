#include "sotto/core/detail/made_once.hpp"

template class nlohmann::basic_json<nlohmann::ordered_map>;
template class nlohmann::detail::serializer<nlohmann::ordered_json>;
#if FMT_VERSION < 110000
template void fmt::detail::vformat_to(fmt::detail::buffer<char>&, fmt::string_view,
                                      fmt::format_args, fmt::detail::locale_ref);
#endif
