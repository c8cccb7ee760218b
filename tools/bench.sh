#!/usr/bin/env bash
# Runs every benchmark of a build: tools/bench.sh BUILD; JSON goes to BUILD/results.
set -euo pipefail
build=$1
mkdir -p "$build/results"
shopt -s nullglob
found=0
for program in "$build"/bin/*_bench; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  found=1
  name=$(basename "$program")
  echo "== $name"
  "$program" --benchmark_out="$build/results/$name.json"
done
[ $found = 1 ] || { echo "bench: no benchmark was built in $build/bin" >&2; exit 1; }
echo "results: $build/results"
