// sotto bench dpsgd: what a private step costs, measured against the ordinary one on the same machine in the same minute.
#pragma once

#include <string>
#include <vector>

namespace sotto::deep {

int bench_dpsgd(const std::vector<std::string>& words);

}  // namespace sotto::deep
