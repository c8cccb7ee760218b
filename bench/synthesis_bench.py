#!/usr/bin/env python3
"""How near `sotto synthesize` comes to a table, and how long it takes.

For each run: total variation over all pairs of columns (numbers in 16 equal bins of their declared
bounds), its mean and its largest; the same for columns shuffled independently; and, where the schema
has a categorical target, how often a gradient-boosted model trained on the synthetic file is right on
real test rows. NOT PRIVATE: it reads the data to compare; for public data.

  bench/synthesis_bench.py build/bin/sotto train.csv test.csv schema.toml --epsilon 1 --runs 5
"""
import argparse
import csv
import itertools
import json
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np

BINS = 16


def columns_of(schema):
    return {name: column for name, column in schema["columns"].items()
            if column.get("role") not in ("user", "ignore") and column["type"] not in ("text", "ignore")}


def read(path, columns):
    """One row of numbers a record; categories as their places, anything else after the last."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    at = {name: i for i, name in enumerate(rows[0])}
    table = []
    for name, column in columns.items():
        cells = [row[at[name]] for row in rows[1:]]
        if column["type"] == "numeric":
            low, high = column["bounds"]
            table.append(np.clip([float(c) if c else (low + high) / 2 for c in cells], low, high))
        else:
            place = {value: i for i, value in enumerate(column.get("values", ["false", "true"]))}
            table.append(np.array([place.get(c, len(place)) for c in cells], float))
    return np.array(table).T


def levels(table, columns):
    result = []
    for j, column in enumerate(columns.values()):
        if column["type"] == "numeric":
            low, high = column["bounds"]
            place = (table[:, j] - low) / (high - low) * BINS
            result.append((np.minimum(place, BINS - 1).astype(int), BINS))
        else:
            result.append((table[:, j].astype(int), len(column.get("values", [0, 1])) + 1))
    return result


def total_variations(real, other, columns):
    a, b = levels(real, columns), levels(other, columns)
    found = []
    for i, j in itertools.combinations(range(len(a)), 2):
        size = a[i][1] * a[j][1]
        share = [np.bincount(x[i][0] * x[j][1] + x[j][0], minlength=size) / len(x[i][0]) for x in (a, b)]
        found.append(float(np.abs(share[0] - share[1]).sum() / 2))
    return found


def boosted_accuracy(train, test, columns):
    from sklearn.ensemble import HistGradientBoostingClassifier
    names = list(columns)
    target = next((j for j, n in enumerate(names) if columns[n].get("role") == "target"), None)
    if target is None or columns[names[target]]["type"] == "numeric":
        return None
    features = [j for j in range(len(names)) if j != target]
    categorical = [columns[names[j]]["type"] != "numeric" for j in features]
    model = HistGradientBoostingClassifier(categorical_features=categorical)
    model.fit(train[:, features], train[:, target])
    return float((model.predict(test[:, features]) == test[:, target]).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sotto", "train", "test", "schema"):
        parser.add_argument(name)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with open(options.schema, "rb") as file:
        columns = columns_of(tomllib.load(file))
    real, test = read(options.train, columns), read(options.test, columns)
    random = np.random.default_rng(0)
    shuffled = np.array([random.permutation(real[:, j]) for j in range(real.shape[1])]).T
    apart = total_variations(real, shuffled, columns)
    print(json.dumps({"independent_mean": np.mean(apart), "independent_largest": max(apart),
                      "boosted_on_real": boosted_accuracy(real, test, columns)}), flush=True)
    runs = []
    with tempfile.TemporaryDirectory() as place:
        for run in range(options.runs):
            out = str(Path(place) / f"{run}.csv")
            start = time.monotonic()
            subprocess.run([options.sotto, "synthesize", "--data", options.train, "--schema", options.schema,
                            "--epsilon", options.epsilon, "--delta", options.delta, "--rows", str(len(real)),
                            "--out", out, "--quiet", "--json"], check=True, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - start
            drawn = read(out, columns)
            pairs = total_variations(real, drawn, columns)
            runs.append({"mean": np.mean(pairs), "largest": max(pairs), "seconds": seconds,
                         "boosted": boosted_accuracy(drawn, test, columns)})
            print(json.dumps(runs[-1]), flush=True)
    print(json.dumps({"mean_of_runs": {key: None if runs[0][key] is None else float(np.mean([r[key] for r in runs]))
                                       for key in runs[0]}}))


if __name__ == "__main__":
    main()
