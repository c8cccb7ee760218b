#include "paid/ritual.hpp"

#include "shell/output_file.hpp"

namespace sotto::cli {

void check_places_of_results(const Arguments& arguments) {
  const auto given = [&](const char* option) {
    return find_option(arguments.command(), option) != nullptr && arguments.given(option);
  };
  if (given("certificate")) OutputFile{arguments.text("certificate")};
  if (!given("output")) check_standard_output();
}

void write_certificate(const std::string& path, const Certificate& certificate) {
  write_file(path, to_json(certificate).dump(2) + "\n");
}

}  // namespace sotto::cli
