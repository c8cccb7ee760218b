#!/usr/bin/env python3
"""`sotto synthesize` on small, wide and ordinary tables, beside independent columns and the majority.

    bench/synthesis_sets.py build/bin/sotto table.csv[.gz] … [--epsilon 1] [--runs 5] [--rows N]

The last column of a table is its target (--target NAME: another); one with at most 20 whole values
is a class. Bounds are those of the table, rounded outwards to two digits, and a quarter of the rows is
kept aside: NOT PRIVATE, for public data. For each table and run:
  variation   mean total variation over all pairs of columns (numbers in 16 bins), to the real rows:
              of the synthetic records, of records with private columns alone (--method columns), of
              real rows whose columns were shuffled, and of the product of the exact columns, which no
              independent columns are much nearer than (both without privacy);
  model       accuracy (a number as target: R²) on real rows kept aside of gradient-boosted trees
              that were trained on the synthetic records, and of the commonest class (of the mean).
Of both the means of the runs and their standard errors. bench/synthesis_tables.py makes tables.
At least --least records are drawn from a model: they cost nothing, and few would be noise of their own.
"""
import argparse
import csv
import gzip
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import synthesis_bench as one

MOST_CLASSES = 20


def load(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        rows = [row for row in csv.reader(file) if row]
    try:
        [float(cell) for cell in rows[0]]
        names = [f"c{j}" for j in range(len(rows[0]))]
    except ValueError:
        names, rows = rows[0], rows[1:]
    return [name.replace('"', "") for name in names], rows


def is_number(cells):
    try:
        return all(cell == "" or np.isfinite(float(cell)) for cell in cells)
    except ValueError:
        return False


def outward(low, high):
    """Bounds as somebody who knows the column roughly would declare them."""
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-9))) / 2
    return float(np.floor(low / step) * step), float(np.ceil(high / step) * step + (step if low == high else 0))


def schema_of(names, rows, target):
    columns = {}
    for j, name in enumerate(names):
        cells = [row[j] for row in rows]
        values = sorted(set(cells))
        role = {"role": "target"} if j == target else {}
        if not is_number(cells) or (j == target and len(values) <= MOST_CLASSES and
                                    all(float(v).is_integer() for v in values)):
            columns[name] = {"type": "categorical", "values": values, **role}
        else:
            numbers = [float(cell) for cell in cells if cell]
            columns[name] = {"type": "numeric", "bounds": list(outward(min(numbers), max(numbers))), **role}
            if "" in cells:
                columns[name]["missing"] = "midpoint"
    return columns


def write(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names] + rows)


def write_schema(path, columns, rows):
    with open(path, "w") as file:
        file.write(f'relation = "add_remove"\nrows = {rows}\n')
        for name, column in columns.items():
            file.write(f"[columns.{json.dumps(name)}]\n")
            for key, value in column.items():
                file.write(f"{key} = {json.dumps(value)}\n")


def model_score(train, test, columns):
    names = list(columns)
    target = next(j for j, n in enumerate(names) if columns[n].get("role") == "target")
    if columns[names[target]]["type"] != "numeric":
        return one.boosted_accuracy(train, test, columns)
    from sklearn.ensemble import HistGradientBoostingRegressor
    features = [j for j in range(len(names)) if j != target]
    model = HistGradientBoostingRegressor(
        categorical_features=[columns[names[j]]["type"] != "numeric" for j in features])
    model.fit(train[:, features], train[:, target])
    residual = test[:, target] - model.predict(test[:, features])
    return 1 - float((residual ** 2).mean() / test[:, target].var())


def product_variation(real, columns):
    """Mean total variation of the exact columns, made independent."""
    found, cells = [], one.levels(real, columns)
    for i in range(len(cells)):
        for j in range(i + 1, len(cells)):
            (a, rows), (b, width) = cells[i], cells[j]
            joint = np.bincount(a * width + b, minlength=rows * width).reshape(rows, width) / len(a)
            found.append(np.abs(joint - np.outer(joint.sum(1), joint.sum(0))).sum() / 2)
    return float(np.mean(found))


def error_of(runs):
    """The standard error of a mean of runs."""
    return float(np.std(runs, ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else None


def measured(options, path):
    names, rows = load(path)
    order = np.random.default_rng(1).permutation(len(rows))
    if options.rows:
        order = order[:options.rows * 4 // 3]
    rows = [rows[i] for i in order]
    target = names.index(options.target) if options.target in names else len(names) - 1
    columns = schema_of(names, rows, target)
    cut = len(rows) * 3 // 4
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        write(place / "train.csv", names, rows[:cut])
        write(place / "test.csv", names, rows[cut:])
        write_schema(place / "schema.toml", columns, cut)
        real, test = one.read(place / "train.csv", columns), one.read(place / "test.csv", columns)
        random = np.random.default_rng(0)
        shuffled = np.array([random.permutation(real[:, j]) for j in range(real.shape[1])]).T
        truth = test[:, target]
        common = 0.0
        if columns[names[target]]["type"] != "numeric":
            values, counts = np.unique(real[:, target], return_counts=True)
            common = float((truth == values[counts.argmax()]).mean())
        answer = {"set": Path(path).name.split(".")[0], "rows": cut, "width": len(names),
                  "shuffled": float(np.mean(one.total_variations(real, shuffled, columns))),
                  "independent": product_variation(real, columns), "majority": common, "model_on_real": model_score(real, test, columns)}
        for method in options.methods.split(","):
            variation, model = [], []
            for run in range(options.runs):
                out = str(place / f"{method}{run}.csv")
                subprocess.run([options.sotto, "synthesize", "--data", str(place / "train.csv"), "--schema",
                                str(place / "schema.toml"), "--epsilon", options.epsilon, "--delta",
                                options.delta, "--rows", str(max(cut, options.least)), "--method", method,
                                "--out", out, "--quiet", "--json"], check=True, stdout=subprocess.DEVNULL)
                drawn = one.read(out, columns)
                variation.append(np.mean(one.total_variations(real, drawn, columns)))
                model.append(model_score(drawn, test, columns))
            answer[method] = {"variation": float(np.mean(variation)), "variation_error": error_of(variation),
                              "model": float(np.mean(model)), "model_error": error_of(model),
                              "worst_model": float(np.min(model))}
        return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, help="use so many rows for training")
    parser.add_argument("--least", type=int, default=5000, help="draw at least so many records")
    parser.add_argument("--target", help="the column to predict")
    parser.add_argument("--methods", default="marginals,columns")
    options = parser.parse_args()
    for path in options.tables:
        print(json.dumps(measured(options, path)), flush=True)


if __name__ == "__main__":
    main()
