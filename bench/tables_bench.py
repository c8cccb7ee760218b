#!/usr/bin/env python3
"""How long a fit takes, from the file to the model, beside scikit-learn's on the same file.

Prints one line for each family: seconds by the clock and of the processors of `sotto train`, those of
the counterpart (loading the file and fitting, without starting Python), and their ratios; then how
time and memory of one family grow with the rows, if asked to. scikit-learn (Debian:
python3-sklearn) is optional; without it only our own seconds are printed.

    bench/tables_bench.py build/bin/sotto [--rows 100000] [--columns 30] [--only boosting] [--most N]
"""
import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

KINDS = {
    "boosting": ("ensemble", "HistGradientBoostingClassifier", {"max_iter": 100}),
    "tree": ("tree", "DecisionTreeClassifier", {"max_depth": 4}),
    "forest": ("ensemble", "RandomForestClassifier", {"n_estimators": 100, "n_jobs": -1}),
    "additive": ("ensemble", "HistGradientBoostingClassifier", {"max_iter": 100}),
    "kernel": ("ensemble", "HistGradientBoostingClassifier", {"max_iter": 100}),
    "naive_bayes": ("naive_bayes", "GaussianNB", {}),
}

THEIRS = """
import json, sys, time
import numpy, sklearn.{module}
wall, cpu = time.perf_counter(), time.process_time()
table = numpy.load(sys.argv[1])
sklearn.{module}.{name}(**{options}).fit(table[:, :-1], table[:, -1])
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""


def write_data(folder, rows, columns):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (rows, columns))
    signal = 3 * x[:, 0] * x[:, 1] + x[:, 2] + rng.normal(0, 0.3, rows)
    table = np.column_stack([x, (signal > 0).astype(float)])
    np.save(os.path.join(folder, "data.npy"), table)
    with open(os.path.join(folder, "schema.toml"), "w") as f:
        f.write(f'relation = "add_remove"\nrows = {rows}\n')
        for j in range(columns):
            f.write(f'[columns.c{j}]\ntype = "numeric"\nbounds = [-1, 1]\n')
        f.write('[columns.y]\ntype = "boolean"\nrole = "target"\n')


def measured(command):
    """Seconds by the clock and of the processors, peak megabytes, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return (time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
            text)


def ours(sotto, folder, kind):
    out = os.path.join(folder, "model")
    shutil.rmtree(out, ignore_errors=True)
    return measured([sotto, "train", "--data", os.path.join(folder, "data.npy"), "--schema",
                     os.path.join(folder, "schema.toml"), "--model", kind, "--epsilon", "1",
                     "--delta", "1e-7", "--out", out, "--quiet"])[:3]


def theirs(folder, module, name, settings):
    if importlib.util.find_spec("sklearn") is None:
        return None
    program = THEIRS.format(module=module, name=name, options=repr(settings))
    text = measured([sys.executable, "-c", program, os.path.join(folder, "data.npy")])[3]
    return json.loads(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--only", choices=sorted(KINDS))
    parser.add_argument("--most", type=int, default=0, help="growth up to so many rows")
    parser.add_argument("--out", help="where the figures go as JSON")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        write_data(folder, options.rows, options.columns)
        print(f"{options.rows} rows, {options.columns} columns, {os.cpu_count()} processors; "
              "seconds by the clock (of the processors)")
        for kind, (module, name, settings) in KINDS.items():
            if options.only not in (None, kind):
                continue
            wall, cpu, memory = ours(options.sotto, folder, kind)
            other = theirs(folder, module, name, settings)
            beside = "scikit-learn is not installed" if other is None else (
                f"{name} {other[0]:.2f} s ({other[1]:.2f} s), ratio {wall / other[0]:.2f} "
                f"({cpu / other[1]:.2f})")
            print(f"  {kind:12} {wall:6.2f} s ({cpu:6.2f} s), {memory:5.0f} MB; {beside}",
                  flush=True)
            results.append({"name": kind, "seconds": wall, "cpu_seconds": cpu, "peak_mb": memory,
                            "scikit_seconds": other and other[0],
                            "scikit_cpu_seconds": other and other[1]})
        kind, rows = options.only or "kernel", 10_000
        if options.most:
            print(f"Growth of {kind}, {options.columns} columns")
        while rows <= options.most:
            write_data(folder, rows, options.columns)
            wall, cpu, memory = ours(options.sotto, folder, kind)
            print(f"  {rows:>9} rows {wall:7.2f} s ({cpu:7.2f} s), {memory:6.0f} MB", flush=True)
            results.append({"name": f"{kind} growth {rows}", "seconds": wall, "cpu_seconds": cpu,
                            "peak_mb": memory})
            rows *= 10
    if options.out:
        with open(options.out, "w") as out:
            json.dump({"benchmarks": results}, out)


if __name__ == "__main__":
    sys.exit(main())
