#!/usr/bin/env python3
"""R² of `sotto train --model linear` on tables: by moments, by gradients, with hats, and as `auto` has it.

Every CSV file of the folders (plain or gzip) is a table whose last numeric column is the target; the
tables made here are Friedman 1 to 3, a tree, a plane, and those of fresh() and aside(), that no
constant was chosen on. A fifth of the rows is kept aside. Bounds are
the table's own, as a stand-in for public ones. Needs numpy.

    tools/regression_results.py build/bin/sotto FOLDER... [--only NAME,...] [--epsilon 0.1,0.3,1,3]
        [--ways moments,gradients,hats,auto] [--rounds 3]
"""
import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

WAYS = {"moments": ("sufficient_statistics", "linear"), "gradients": ("gradient", "linear"),
        "hats": ("gradient", "hats"), "auto": ("auto", None)}


def numeric(cells):
    try:
        [float(cell) for cell in cells if cell != ""]
        return True
    except ValueError:
        return False


def read(path):
    """Columns of texts, target last."""
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        rows = [row for row in csv.reader(file) if row]
    if not numeric(rows[0]):
        rows = rows[1:]
    columns = [list(column) for column in zip(*rows)]
    target = max(i for i, column in enumerate(columns) if numeric(column))
    return columns[:target] + columns[target + 1:] + [columns[target]]


def made_up():
    random = np.random.default_rng(11)
    count = 20_000

    def table(x, y):
        return [[repr(float(v)) for v in column] for column in np.column_stack([x, y]).T]

    x = random.uniform(size=(count, 10))
    noise = random.normal(size=count)
    yield "Friedman 1", table(x, 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 +
                              10 * x[:, 3] + 5 * x[:, 4] + noise)
    z = x[:, :4] * [100, 520 * np.pi, 1, 10] + [0, 40 * np.pi, 0, 1]
    inner = z[:, 1] * z[:, 2] - 1 / (z[:, 1] * z[:, 3])
    yield "Friedman 2", table(z, np.hypot(z[:, 0], inner) + 125 * noise)
    yield "Friedman 3", table(z, np.arctan(inner / np.maximum(z[:, 0], 1e-9)) + 0.1 * noise)
    leaves = random.normal(size=64)
    cuts = random.uniform(0.3, 0.7, size=6)
    leaf = ((x[:, :6] > cuts) * 2 ** np.arange(6)).sum(axis=1)
    yield "a tree", table(x, leaves[leaf] + 0.3 * noise)
    yield "a plane", table(x, x @ random.normal(size=10) + 0.3 * noise)
    yield from fresh()
    yield from aside()


def fresh():
    random = np.random.default_rng(20261118)

    def texts(numbers):
        return [[f"{v:.6g}" for v in column] for column in np.asarray(numbers).T]

    count = 10_000
    factors = random.normal(size=(count, 3))
    loadings = random.normal(size=(3, 24))
    x = factors @ loadings + 0.5 * random.normal(size=(count, 24))
    y = factors @ np.array([1.0, -0.7, 0.4]) + 0.6 * random.standard_t(4, size=count)
    yield "factors and heavy tails", texts(np.column_stack([x, y]))
    count = 6_000
    x = np.exp(random.normal(size=(count, 6)) * [0.5, 1, 1, 0.7, 0.3, 1])
    y = (np.log(x[:, 1]) + 0.6 * np.sqrt(x[:, 2]) - 1.2 * (x[:, 0] > 1.3) + 0.3 * x[:, 4] +
         0.4 * random.normal(size=count))
    yield "log-normal columns", texts(np.column_stack([x, y]))
    count = 3_000
    x = random.uniform(-1, 1, size=(count, 13))
    kind = random.integers(0, 5, size=count)
    y = (x[:, 0] - 0.8 * x[:, 3] + 0.5 * x[:, 7] * x[:, 8] +
         np.array([0, 0.5, -0.4, 0.9, -0.2])[kind] + 0.4 * x[:, 5] ** 2 +
         0.5 * random.normal(size=count))
    yield "numbers and a category", texts(x) + [[f"k{k}" for k in kind]] + texts(y[:, None])


def aside():
    def table(numbers, y, *kinds):
        texts = [[f"{v:.6g}" for v in column] for column in numbers.T]
        return texts + [[f"k{k}" for k in kind] for kind in kinds] + [[f"{v:.6g}" for v in y]]

    random = np.random.default_rng(101)
    mixing = random.normal(size=(12, 12))
    x = random.normal(size=(12_000, 12)) @ mixing
    yield "a plane of correlated columns", table(
        x, x @ random.normal(size=12) * 0.3 + 1.5 * random.normal(size=12_000))
    random = np.random.default_rng(102)
    x = random.uniform(size=(6_000, 30))
    weights = random.normal(size=30) * (random.uniform(size=30) < 0.4)
    yield "a plane of 30 columns", table(x, x @ weights + 0.4 * random.normal(size=6_000))
    random = np.random.default_rng(103)
    x = random.uniform(size=(9_000, 7))
    yield "waves", table(x, np.sin(6 * x[:, 0]) + 0.8 * x[:, 1] + np.cos(4 * x[:, 2]) * 0.6 +
                         0.5 * random.normal(size=9_000))
    random = np.random.default_rng(104)
    x = random.standard_t(3, size=(7_000, 9))
    yield "heavy tails in all columns", table(
        x, np.tanh(x[:, 0]) + 0.5 * np.tanh(x[:, 1]) + 0.2 * x[:, 2] +
        0.6 * random.standard_t(4, size=7_000))
    random = np.random.default_rng(105)
    x = random.uniform(-1, 1, size=(500, 5))
    yield "few rows", table(x, x[:, 0] - 0.7 * x[:, 1] + 0.8 * x[:, 2] ** 2 +
                            0.4 * random.normal(size=500))
    random = np.random.default_rng(106)
    x = random.normal(size=(9_000, 5))
    eight, three = random.integers(0, 8, size=9_000), random.integers(0, 3, size=9_000)
    y = (x[:, 0] + 0.5 * x[:, 1] + random.normal(size=8)[eight] +
         np.array([0, 0.5, -0.5])[three] + 0.8 * random.normal(size=9_000))
    yield "numbers and two categories", table(x, y, eight, three)
    random = np.random.default_rng(107)
    factor = random.normal(size=4_000)
    x = factor[:, None] * random.uniform(0.5, 1.5, size=20) + 0.8 * random.normal(size=(4_000, 20))
    yield "one factor that bends", table(x, np.maximum(factor, 0) + 0.4 * random.normal(size=4_000))
    random = np.random.default_rng(108)
    x = random.normal(size=(10_000, 6))
    yield "mostly zeros", table(
        x, np.maximum(0, x[:, 0] + 0.6 * x[:, 1] - 0.8 + 0.4 * random.normal(size=10_000)))


def schema(columns, rows, basis):
    text = 'relation = "add_remove"\n' + f"rows = {rows}\n"
    if basis:
        text += f'basis = "{basis}"\n'
    for i, column in enumerate(columns):
        text += f"[columns.c{i}]\n"
        if numeric(column):
            numbers = [float(cell) for cell in column if cell != ""]
            low, high = min(numbers), max(numbers)
            text += f'type = "numeric"\nbounds = [{low!r}, {high if high > low else low + 1!r}]\n'
            if "" in column:
                text += 'missing = "midpoint"\n'
        else:
            values = ", ".join(json.dumps(value) for value in sorted(set(column)))
            text += f'type = "categorical"\nvalues = [{values}]\n'
        if i + 1 == len(columns):
            text += 'role = "target"\n'
    return text


def write(path, columns, rows):
    with open(path, "w") as out:
        out.write(",".join(f"c{i}" for i in range(len(columns))) + "\n")
        for row in rows:
            out.write(",".join(column[row] for column in columns) + "\n")


def score(sotto, folder, columns, train, test, way, epsilon, seed):
    method, basis = WAYS[way]
    place = lambda name: os.path.join(folder, name)
    write(place("train.csv"), columns, train)
    write(place("test.csv"), columns, test)
    with open(place("schema.toml"), "w") as out:
        out.write(schema(columns, len(train), basis))
    model = place(f"model-{way}-{epsilon}-{seed}")
    subprocess.run([sotto, "train", "--model", "linear", "--method", method, "--data",
                    place("train.csv"), "--schema", place("schema.toml"), "--epsilon", str(epsilon),
                    "--delta", "1e-5", "--out", model, "--quiet"], check=True, capture_output=True)
    out = subprocess.run([sotto, "evaluate", "--model", model, "--data", place("test.csv"),
                          "--metric", "r2"], check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--only", help="names of tables, separated by commas")
    parser.add_argument("--epsilon", default="0.1,0.3,1,3")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    tables = []
    for folder in options.folders:
        for name in sorted(os.listdir(folder)):
            if name.endswith((".csv", ".csv.gz")):
                tables.append((name.split(".csv")[0], lambda p=os.path.join(folder, name): read(p)))
    tables += [(name, lambda c=columns: c) for name, columns in made_up()]
    ways = options.ways.split(",")
    print(f"| data (rows, columns): {' / '.join(ways)} | " +
          " | ".join(f"ε = {e}" for e in options.epsilon.split(",")) + " |")
    for name, load in tables:
        if options.only and name not in options.only.split(","):
            continue
        columns = load()
        count = len(columns[0])
        cells = []
        for epsilon in options.epsilon.split(","):
            figures = {way: [] for way in ways}
            for seed in range(options.rounds):
                order = np.random.default_rng(seed).permutation(count)
                test, train = order[:count // 5], order[count // 5:]
                with tempfile.TemporaryDirectory() as folder:
                    for way in ways:
                        figures[way].append(score(options.sotto, folder, columns, train, test, way,
                                                  epsilon, seed))
            cells.append(" / ".join(f"{np.mean(figures[way]):.2f}" for way in ways))
        print(f"| {name} ({count - count // 5}, {len(columns) - 1}) | " + " | ".join(cells) + " |",
              flush=True)


if __name__ == "__main__":
    sys.exit(main())
