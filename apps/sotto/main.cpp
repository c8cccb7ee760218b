#include "shell/shell.hpp"

int main(int argc, char** argv) { return sotto::cli::run_shell(argc, argv); }
