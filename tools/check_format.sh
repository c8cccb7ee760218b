#!/usr/bin/env bash
# Formatting of all C++ files: tools/check_format.sh [--fix] [FILE…]
# Exit 0 fine, 1 not formatted, 77 skipped because the one clang-format we agree on (14, Debian 12) is not here.
set -euo pipefail
cd "$(dirname "$0")/.."
version=14
tool=$(command -v clang-format-$version || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q "version $version\."; then
  echo "format: skipped, clang-format $version is not installed (tools/deps.sh dev)"
  exit 77
fi
mode=(--dry-run -Werror)
if [ "${1:-}" = --fix ]; then mode=(-i); shift; fi
if [ $# -gt 0 ]; then files=("$@"); else
  mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
fi
if printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 20 "$tool" "${mode[@]}"; then
  echo "format: ${#files[@]} files are fine"
else
  echo "format: run make fmt" >&2
  exit 1
fi
