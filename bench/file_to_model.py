#!/usr/bin/env python3
"""From a file to a fitted model, by the clock: `sotto train` beside pandas and scikit-learn.

Prints seconds and peak memory of whole processes that read the file and fit a logistic regression,
the ratio of the two, and how ours grow from ten thousand to ten million rows. scikit-learn and
pandas (Debian: python3-sklearn, python3-pandas) are optional; without pandas numpy reads the file.

    bench/file_to_model.py build/bin/sotto [--rounds 3] [--most 10000000] [--out results.json]

--files FOLDER keeps the invented files there for the next time; --files FOLDER --only-write writes
them and measures nothing, so that a quiet machine is needed for the measuring alone.
"""
import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

FORMS = [("csv", 100_000, 20), ("csv", 1_000_000, 20), ("npy", 1_000_000, 50)]

THEIRS = """
import sys, time
path = sys.argv[1]
import numpy
try:
    import pandas
except ImportError:
    pandas = None
from sklearn.linear_model import LogisticRegression
start = time.perf_counter()
if not path.endswith(".csv"):
    table = numpy.load(path)
elif pandas:
    table = pandas.read_csv(path).to_numpy()
else:
    table = numpy.loadtxt(path, delimiter=",", skiprows=1)
LogisticRegression(max_iter=1000).fit(table[:, :-1], table[:, -1])
print(time.perf_counter() - start)
"""


def write(path, rows, columns):
    """Columns with a normal distribution, classes by a logistic model; a schema beside them."""
    if os.path.exists(path + ".toml"):
        return  # of an earlier run, complete
    weights = np.random.default_rng(1).normal(size=columns) * 2 / np.sqrt(columns)
    random = np.random.default_rng(2)
    arrays = []
    with open(path, "wb") as out:
        if path.endswith(".csv"):
            out.write((",".join(f"x{c}" for c in range(columns)) + ",y\n").encode())
        for start in range(0, rows, 100_000):
            x = np.clip(random.normal(size=(min(100_000, rows - start), columns)), -4, 4)
            y = random.random(len(x)) < 1 / (1 + np.exp(-x @ weights))
            if path.endswith(".csv"):
                np.savetxt(out, np.column_stack([x, y]), fmt=["%.5f"] * columns + ["%d"],
                           delimiter=",")
            else:
                arrays.append(np.column_stack([x, y]))
    if arrays:
        np.save(path, np.concatenate(arrays))
    with open(path + ".toml", "w") as out:
        out.write(f'relation = "add_remove"\nrows = {rows}\n[columns."x{{0..{columns - 1}}}"]\n'
                  'type = "numeric"\nbounds = [-4, 4]\n'
                  '[columns.y]\ntype = "boolean"\nrole = "target"\n')


def place(folder, ending, rows, columns):
    return os.path.join(folder, f"{rows}x{columns}.{ending}")


def measured(command):
    """Seconds and peak megabytes of a process, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, text


def ours(sotto, path, rounds):
    out = path + ".model"
    seconds, memory = [], 0
    for _ in range(rounds):
        shutil.rmtree(out, ignore_errors=True)
        s, m, _ = measured([sotto, "train", "--data", path, "--schema", path + ".toml", "--epsilon",
                            "1", "--delta", "1e-8", "--out", out, "--quiet"])
        seconds.append(s)
        memory = max(memory, m)
    return statistics.median(seconds), memory


def theirs(path, rounds):
    if importlib.util.find_spec("sklearn") is None:
        return None, "not installed"
    figures = [measured([sys.executable, "-c", THEIRS, path]) for _ in range(rounds)]
    # Without starting Python and importing: reading and fitting alone.
    return (statistics.median(float(text) for _, _, text in figures),
            f"{max(m for _, m, _ in figures):.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=10_000_000, help="rows of the largest file")
    parser.add_argument("--out", help="where the figures go as JSON")
    parser.add_argument("--files", help="where the invented files are kept")
    parser.add_argument("--only-write", action="store_true", help="write the files, measure nothing")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.files or temporary
        os.makedirs(folder, exist_ok=True)
        growth = [10**k for k in range(4, 12) if 10**k <= options.most]
        if options.only_write:
            for ending, rows, columns in FORMS + [("csv", rows, 20) for rows in growth]:
                write(place(folder, ending, rows, columns), rows, columns)
            return
        print(f"File to logistic model, epsilon = 1, {os.cpu_count()} processors, median of "
              f"{options.rounds}")
        for ending, rows, columns in FORMS:
            path = place(folder, ending, rows, columns)
            write(path, rows, columns)
            megabytes = os.path.getsize(path) / 1e6
            seconds, memory = ours(options.sotto, path, options.rounds)
            other, note = theirs(path, options.rounds)
            line = (f"  {rows:>8} x {columns} .{ending}  sotto {seconds:6.2f} s, {memory:.0f} MB, "
                    f"{megabytes / seconds:.0f} MB/s of the file;  ")
            line += f"scikit-learn: {note}" if other is None else (
                f"scikit-learn, not private {other:6.2f} s, {note}; ratio {seconds / other:.2f}")
            print(line, flush=True)
            results.append({"name": f"{rows} x {columns} {ending}", "seconds": seconds,
                            "peak_mb": memory, "scikit_seconds": other})
        print("Growth, 20 columns of CSV")
        for rows in growth:
            path = place(folder, "csv", rows, 20)
            write(path, rows, 20)
            seconds, memory = ours(options.sotto, path, 1)
            print(f"  {rows:>8} rows  {seconds:6.2f} s, {memory:6.0f} MB, "
                  f"{os.path.getsize(path) / 1e6 / seconds:.0f} MB/s of the file", flush=True)
            results.append({"name": f"growth {rows}", "seconds": seconds, "peak_mb": memory})
    if options.out:
        with open(options.out, "w") as out:
            json.dump({"benchmarks": results}, out)


if __name__ == "__main__":
    sys.exit(main())
