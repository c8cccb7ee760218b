#!/usr/bin/env bash
# Runs every libFuzzer entry point of a build for some seconds: tools/fuzz.sh BUILD [SECONDS]
# Seeds come from fuzz/corpus/<target>, what is found stays in BUILD/corpus/<target> and is used again next time.
set -euo pipefail
build=$1 seconds=${2:-30}
root=$(cd "$(dirname "$0")/.." && pwd)
shopt -s nullglob
found=0
for program in "$build"/bin/*_fuzz; do
  found=1
  name=$(basename "$program")
  name=${name%_fuzz}
  corpus=$build/corpus/$name
  mkdir -p "$corpus" "$build/crashes"
  seeds=(); [ -d "$root/fuzz/corpus/$name" ] && seeds=("$root/fuzz/corpus/$name")
  echo "== $name for $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$name-" "$corpus" "${seeds[@]}" 2>&1 | grep -vE '^#[0-9]+\s+(NEW|REDUCE|pulse)' || exit 1
done
[ $found = 1 ] || { echo "fuzz: no entry point was built in $build/bin" >&2; exit 1; }
