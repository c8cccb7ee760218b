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
# From a file to a model, beside pandas and scikit-learn where they are installed.
if [ -x "$build/bin/sotto" ] && python3 -c 'import numpy' 2> /dev/null; then
  echo "== file_to_model"
  python3 bench/file_to_model.py "$build/bin/sotto" --out "$build/results/file_to_model.json"
fi
# Whole training of networks against an ordinary loop, both kinds of noise.
if [ -x "$build/bin/sotto-deep" ] && [ -x "$build/bin/sotto" ]; then
  for model in softmax mlp cnn cifar_cnn embedding lstm transformer; do
    for noise in exact bulk; do
      "$build/bin/sotto" bench dpsgd --model $model --noise $noise --epoch --json | tee "$build/results/epoch_${model}_$noise.json"
    done
  done
fi
[ $found = 1 ] || { echo "bench: no benchmark was built in $build/bin" >&2; exit 1; }
echo "results: $build/results"
