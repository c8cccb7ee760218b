#!/usr/bin/env python3
"""What a budget for each record gains: individual_results.py SOTTO FOLDER [RUNS [SET [MODEL]]]

Trains linear models by noisy gradient descent with and without --individual-budget, with defaults and at equal ε (δ = 1e-6), RUNS times (5), and
prints the mean on rows not trained on. FOLDER holds adult/, california_housing/ and imdb/ (see results.py for Adult; missing ones are left out);
the set "long tails" is made up: 20 columns that are mostly near the middle of their bounds. SET: only sets with this in their name. MODEL: a network, e.g. softmax, by
DP-SGD instead, with and without budgets at several shares of the default clip norm: what budgets gain has to be more than what another clip norm does.
"""
import csv
import gzip
import pathlib
import random
import shutil
import statistics
import sys
import tempfile

import results


def write(folder, rows, schema):
    random.Random(1).shuffle(rows)
    header, cut = list(rows[0]), len(rows) * 7 // 10
    for name, part in (("train.csv", rows[:cut]), ("test.csv", rows[cut:])):
        with open(folder / name, "w", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(part)
    (folder / "schema.toml").write_text(f'relation = "add_remove"\nrows = {cut}\n' + schema)


def long_tails(_, folder):
    """Most values are a hundredth of the bound; the class follows a plane."""
    draw = random.Random(7)
    weights = [draw.gauss(0, 1) for _ in range(20)]
    rows = []
    for _ in range(20000):
        x = [max(-1, min(1, draw.gauss(0, 0.1) / max(0.05, draw.random()))) for _ in weights]
        margin = sum(a * b for a, b in zip(x, weights)) / 0.6
        rows.append({**{f"x{j}": f"{v:.4f}" for j, v in enumerate(x)}, "y": int(margin + draw.gauss(0, 0.5) > 0)})
    write(folder, rows, "".join(f'[columns.x{j}]\ntype = "numeric"\nbounds = [-1, 1]\n' for j in range(20)) +
          '[columns.y]\ntype = "boolean"\nrole = "target"\n')


def adult(data, folder):
    results.prepare(data / "adult", folder)


def california(data, folder):
    bounds = {"longitude": (-125, -113), "latitude": (32, 43), "housing_median_age": (0, 60), "total_rooms": (0, 40000),
              "total_bedrooms": (0, 8000), "population": (0, 40000), "households": (0, 8000), "median_income": (0, 16)}
    with gzip.open(data / "california_housing" / "housing.csv.gz", "rt") as file:
        rows = [{**{k: row[k] for k in bounds}, "dear": int(float(row["median_house_value"]) > 180000)}
                for row in csv.DictReader(file)]
    write(folder, rows, "".join(f'[columns.{k}]\ntype = "numeric"\nbounds = {list(b)}\nmissing = "midpoint"\n' for k, b in bounds.items()) +
          '[columns.dear]\ntype = "boolean"\nrole = "target"\n')


def imdb(data, folder):
    for part in ("train", "test"):
        with gzip.open(data / "imdb" / f"imdb_{part}.tsv.gz", "rt") as file, open(folder / f"{part}.csv", "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["text", "label"])
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                writer.writerow([row["text"], row["label"]])
    (folder / "schema.toml").write_text('relation = "add_remove"\nrows = 25000\n[columns.text]\ntype = "text"\nrole = "feature"\nbuckets = 1024\n'
                                        '[columns.label]\ntype = "boolean"\nrole = "target"\n')


SETS = {"long tails": long_tails, "Adult": adult, "California, dear or not": california, "IMDB, words": imdb}


def measure(sotto, folder, epsilon, options, runs, model):
    accuracy, auc, clip = [], [], None
    for run in range(runs):
        place = folder / f"model-{run}"
        made = results.ask(sotto, "train", "--model", model, "--method", "gradient", "--data", folder / "train.csv", "--schema",
                           folder / "schema.toml", "--epsilon", epsilon, "--delta", "1e-6", "--out", place, *options)
        clip = made.get("clip")
        quality = results.ask(sotto, "evaluate", "--model", place, "--data", folder / "test.csv")
        accuracy.append(quality["accuracy"])
        auc.append(quality["auc"])
        shutil.rmtree(place)
    return statistics.fmean(accuracy), statistics.fmean(auc), clip


SHARES = (2, 1, 0.75, 0.5, 0.375, 0.25)  # of the default clip norm
TYPICAL = ("0.3", "0.5")


def linear(sotto, folder, name, epsilon, runs, model):
    without = measure(sotto, folder, epsilon, [], runs, model)
    own = measure(sotto, folder, epsilon, ["--individual-budget"], runs, model)
    print(f"| {name} | {epsilon} | {without[0]:.4f} | {own[0]:.4f} | {without[1]:.3f} | {own[1]:.3f} |", flush=True)


def network(sotto, folder, name, epsilon, runs, model):
    clip = measure(sotto, folder, epsilon, [], 1, model)[2]
    for share in SHARES:
        ways = [[]] + [["--individual-budget", "--typical-norm", norm] for norm in TYPICAL]
        cells = [measure(sotto, folder, epsilon, ["--clip", clip * share, *way], runs, model) for way in ways]
        print(f"| {name} | {epsilon} | {clip * share:g} | " + " | ".join(f"{a:.4f} ({u:.3f})" for a, u, _ in cells) + " |", flush=True)


def main(sotto, data, runs="5", only="", model="logistic"):
    if model == "logistic":
        print("| set | ε | accuracy | with a budget for each record | AUC | with |\n|---|---|---|---|---|---|")
    else:
        print("| set | ε | clip norm | accuracy (AUC) | " + " | ".join(f"with R = {norm}" for norm in TYPICAL) + " |\n|---|---|---|---|---|---|")
    for name, make in SETS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            try:
                make(pathlib.Path(data), folder)
            except FileNotFoundError:
                continue
            for epsilon in ("0.1", "0.3", "1"):
                (linear if model == "logistic" else network)(sotto, folder, name, epsilon, int(runs), model)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
