#!/usr/bin/env python3
"""How long a fit takes, from the file to the model, beside scikit-learn's on the same file.

Prints one line for each family: seconds of `sotto train`, seconds of the counterpart (loading the
file and fitting), and their ratio. scikit-learn is optional; without it only our own seconds are
printed.

    bench/tables_bench.py build/bin/sotto [--rows 100000] [--columns 30] [--only boosting]
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

KINDS = {
    "boosting": ("HistGradientBoostingClassifier", {"max_iter": 100}),
    "tree": ("DecisionTreeClassifier", {"max_depth": 4}),
    "forest": ("RandomForestClassifier", {"n_estimators": 100, "n_jobs": -1}),
    "additive": ("HistGradientBoostingClassifier", {"max_iter": 100}),
    "kernel": ("HistGradientBoostingClassifier", {"max_iter": 100}),
}


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


def our_seconds(sotto, folder, kind):
    out = os.path.join(folder, "model_" + kind)
    start = time.perf_counter()
    subprocess.run([sotto, "train", "--data", os.path.join(folder, "data.npy"), "--schema",
                    os.path.join(folder, "schema.toml"), "--model", kind, "--epsilon", "1",
                    "--delta", "1e-7", "--out", out, "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def their_seconds(folder, name, options):
    try:
        from sklearn import ensemble, tree
    except ImportError:
        return None
    start = time.perf_counter()
    table = np.load(os.path.join(folder, "data.npy"))
    maker = getattr(ensemble, name, None) or getattr(tree, name)
    maker(**options).fit(table[:, :-1], table[:, -1])
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--only", choices=sorted(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_data(folder, options.rows, options.columns)
        print(f"{options.rows} rows, {options.columns} columns, {os.cpu_count()} processors")
        for kind, (name, settings) in KINDS.items():
            if options.only not in (None, kind):
                continue
            ours = our_seconds(options.sotto, folder, kind)
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            theirs = their_seconds(folder, name, settings)
            beside = "scikit-learn is not installed" if theirs is None else (
                f"{name} {theirs:6.2f} s, ratio {ours / theirs:.2f}")
            print(f"{kind:10} {ours:6.2f} s, at most {memory:.0f} MB so far; {beside}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
