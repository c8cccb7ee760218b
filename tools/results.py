#!/usr/bin/env python3
"""The table of README.md: results.py SOTTO ADULT [RUNS]

Trains each family with its defaults on the census table Adult (files adult.data, adult.test and adult.names of the UCI repository, plain or
gzip, in the folder ADULT), RUNS times (5), and prints mean accuracy, AUC and processor time on the given test rows. Bounds are ours;
categories are those that adult.names lists, so nothing is read from the records.
"""
import gzip
import json
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

BOUNDS = {"age": (17, 100), "fnlwgt": (0, 1_500_000), "education-num": (1, 16), "capital-gain": (0, 100_000),
          "capital-loss": (0, 4500), "hours-per-week": (1, 100)}
MODELS = [("naive_bayes", "1", "1e-5"), ("tree", "1", "0"), ("logistic", "1", "0"), ("logistic", "1", "1e-5"), ("mlp", "1", "1e-5"),
          ("kernel", "1", "1e-5"), ("additive", "1", "1e-5"), ("additive", "0.1", "1e-5")]


def lines(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            text = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
            with text:
                return text.read().splitlines()
    sys.exit(f"results: {folder / name} is not there")


def categories(folder):
    """The columns that adult.names describes, each with its values; the values of a numeric one mean nothing."""
    columns = {}
    for line in lines(folder, "adult.names"):
        match = re.fullmatch(r"([a-z-]+):\s*(.*?)\.?\s*", line)
        if match:
            columns[match.group(1)] = [value.strip() for value in match.group(2).split(",")]
    return columns


def prepare(folder, out):
    """Files with a header row, and the schema; the number of training rows."""
    columns = categories(folder)
    names = [*columns, "income"]
    count = 0
    for part, target in (("adult.data", "train.csv"), ("adult.test", "test.csv")):
        rows = [line.rstrip(".").split(", ") for line in lines(folder, part)]
        rows = [["" if cell == "?" else cell for cell in row] for row in rows if len(row) == len(names)]
        (out / target).write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
        count = count or len(rows)
    with open(out / "schema.toml", "w") as schema:
        schema.write(f'relation = "add_remove"\nrows = {count}\n')
        for name in names:
            schema.write(f'[columns."{name}"]\n')
            if name in BOUNDS:
                schema.write(f'type = "numeric"\nbounds = {list(BOUNDS[name])}\n')
            elif name == "income":
                schema.write('type = "categorical"\nvalues = ["<=50K", ">50K"]\nrole = "target"\n')
            else:
                schema.write(f'type = "categorical"\nvalues = {json.dumps(columns[name])}\nmissing = "other"\n')
    return count


def ask(sotto, *words):
    done = subprocess.run([sotto, *map(str, words), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"results: sotto {' '.join(map(str, words))}\n{done.stderr}")
    return json.loads(done.stdout)


def measure(sotto, folder, model, epsilon, delta, runs):
    figures = []
    for run in range(runs):
        place = folder / f"{model}-{epsilon}-{delta}-{run}"
        budget = ["--epsilon", epsilon] + (["--delta", delta] if delta != "0" else [])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        trained = ask(sotto, "train", "--model", model, "--data", folder / "train.csv", "--schema", folder / "schema.toml",
                      *budget, "--out", place)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        quality = ask(sotto, "evaluate", "--model", place, "--data", folder / "test.csv")
        figures.append((quality["accuracy"], quality["auc"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        assert trained["epsilon"] <= float(epsilon) * (1 + 1e-9)
    return [statistics.fmean(column) for column in zip(*figures)]


def main(sotto, adult, runs="5"):
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        rows = prepare(pathlib.Path(adult), folder)
        print(f"Adult, {rows} rows, defaults, mean of {runs} runs\n")
        print("| model | ε | δ | accuracy | AUC | processor time |\n|---|---|---|---|---|---|")
        for model, epsilon, delta in MODELS:
            accuracy, auc, seconds = measure(sotto, folder, model, epsilon, delta, int(runs))
            print(f"| `{model}` | {epsilon} | {delta} | {accuracy:.4f} | {auc:.3f} | {seconds:.2f} s |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
