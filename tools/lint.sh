#!/usr/bin/env bash
# clang-tidy by the rules of .clang-tidy: tools/lint.sh BUILD [FILE…]; all sources of ours without FILE.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1; shift
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files 'src/*.cpp' 'apps/*.cpp')
printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 1 clang-tidy --quiet -p "$build" 2> >(grep -vE 'warnings? generated|Suppressed' >&2)
echo "lint: ${#files[@]} files are fine"
