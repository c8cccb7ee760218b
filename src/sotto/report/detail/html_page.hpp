// The frame of every page: title, alarm in large letters, body. Loads nothing from elsewhere; dark
// or light as the reader's screen is.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sotto {

// title and alarm are text, body is markup.
std::string html_page(const std::string& title, const std::string& alarm, const std::string& body);

// <dl> of names and values, both text.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace sotto
