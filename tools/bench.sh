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
# From a file to a model, beside scikit-learn where it is installed, and how time and memory grow with the rows.
# Debian's packages are those of its own interpreter.
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2> /dev/null && break
  python=
done
if [ -x "$build/bin/sotto" ] && [ -n "$python" ]; then
  echo "== file_to_model"
  "$python" bench/file_to_model.py "$build/bin/sotto" --out "$build/results/file_to_model.json"
  echo "== tables"
  "$python" bench/tables_bench.py "$build/bin/sotto" --most 1000000 --out "$build/results/tables.json"
fi
# Whole training of networks against an ordinary loop; each run has the ratios of both kinds of noise.
if [ -x "$build/bin/sotto-deep" ] && [ -x "$build/bin/sotto" ]; then
  for model in softmax mlp cnn cifar_cnn embedding lstm transformer; do
    "$build/bin/sotto" bench dpsgd --model $model --epoch --json | tee "$build/results/epoch_$model.json"
  done
fi
[ $found = 1 ] || { echo "bench: no benchmark was built in $build/bin" >&2; exit 1; }
echo "results: $build/results"
