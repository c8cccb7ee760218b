#include "paid/ritual.hpp"

#include "shell/output_file.hpp"

namespace sotto::cli {

void write_certificate(const std::string& path, const Certificate& certificate) {
  write_file(path, to_json(certificate).dump(2) + "\n");
}

}  // namespace sotto::cli
