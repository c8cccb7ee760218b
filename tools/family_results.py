#!/usr/bin/env python3
"""The tables of docs/math/choice-of-family.md: family_results.py SOTTO FOLDER… [--sets A,B] [--epsilons 3,1] [--pure] [--columns A,B] [--runs 2] [--rows 16000]
    [--jobs 1] [--json FILE] [--summary FILE…]

Looks in the folders for adult.data with adult.names, for housing.csv with a header (California), and for tables without a header whose last column is
the target: bike, elevators, kin40k, parkinsons, pol, protein, pumadyn32nm (all plain or gzip), and for tables that tools/family_tables.R has written. What is
not there is left out. Artificial sets are made here. Of each set at most ROWS·5/4 shuffled rows are taken and a fifth is kept aside; Adult (whose test file is never read) and California are taken whole,
and 15 % kept aside. Bounds are those of the data. Prints accuracy or R² on the rows kept aside, means of RUNS runs, each on another shuffle.

--summary reads what --json wrote, trains nothing, and prints for every ε, separately for classes and numbers, how far each column is from the best family in
the mean over sets (a set counts at most .3), and on how many sets it is no more than .0055 below. Which family is the best on a set is asked of the other
runs, for each run: the best of many noisy means would be too high. Each FILE may be NAME=FILE, whose `auto` is shown as NAME.
"""
import argparse
import json
import math
import pathlib
import random
import resource
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from results import BOUNDS, ask, categories, lines

COLUMNS = {"linear": [], "additive": ["--model", "additive"], "kernel": ["--model", "kernel"],
           "after kernel": ["--model", "boosting", "--method", "after_kernel"],
           "random": ["--model", "boosting", "--method", "random"], "naive Bayes": ["--model", "naive_bayes"], "tree": ["--model", "tree"],
           "forest": ["--model", "forest"], "auto": ["--model", "auto"]}
TABLES = {"bike": "bike", "elevators": "elevators", "kin40k": "kin40k", "parkinsons": "Parkinson's", "pol": "pol", "protein": "protein structure",
          "pumadyn32nm": "pumadyn"}


class Table:
    """Rows of texts, the last column the target; what the schema says of each column: bounds (None: those of the data) or a list of values."""

    def __init__(self, columns, rows, classes=False):
        self.columns, self.rows, self.classes = columns, rows, classes

    def write(self, folder, limit, part, seed):
        rows = list(self.rows)
        random.Random(seed).shuffle(rows)
        if limit:
            rows = rows[:limit]
        kept = round(len(rows) * part)
        names = [f"c{j}" for j in range(len(self.columns) - 1)] + ["y"]
        for name, own in (("test.csv", rows[:kept]), ("train.csv", rows[kept:])):
            (folder / name).write_text("\n".join(",".join(row) for row in [names, *own]) + "\n")
        with open(folder / "schema.toml", "w") as schema:
            schema.write(f'relation = "add_remove"\nrows = {len(rows) - kept}\n')
            for j, (name, facts) in enumerate(zip(names, self.columns)):
                schema.write(f"[columns.{name}]\n")
                if name == "y":
                    schema.write('role = "target"\n')
                if isinstance(facts, list):
                    schema.write(f'type = "categorical"\nvalues = {json.dumps(facts)}\n')
                    continue
                low, high = facts or bounds_of(self.rows, j)
                schema.write(f'type = "numeric"\nbounds = [{low}, {high}]\n')
                if name != "y":
                    schema.write('missing = "midpoint"\n')
        return len(rows) - kept


def bounds_of(rows, j):
    values = [float(row[j]) for row in rows if row[j] != ""]
    low, high = min(values), max(values)
    return (low, high) if low < high else (low, low + 1)


def adult(folder):
    columns = categories(folder)
    rows = [line.split(", ") for line in lines(folder, "adult.data")]
    rows = [["" if cell == "?" else cell for cell in row] for row in rows if len(row) == len(columns) + 1]
    return Table([BOUNDS.get(name, values) for name, values in columns.items()] + [["<=50K", ">50K"]], rows, True)


def california(folder):
    header, *rows = [line.split(",") for line in lines(folder, "housing.csv")]
    target, place = header.index("median_house_value"), header.index("ocean_proximity")
    rows = [[cell for j, cell in enumerate(row) if j != target] + [row[target]] for row in rows]
    values = sorted({row[place - 1] for row in rows})
    return Table([None] * 8 + [values, None], rows)


def numbers(folder, name):
    rows = [line.split(",") for line in lines(folder, name)]
    return Table([None] * len(rows[0]), rows)


def typed(folder, name):
    """With a header, and a letter for each column: c for a category, n for a number."""
    types = lines(folder, name + ".types")[0]
    rows = [line.split(",") for line in lines(folder, name + ".csv")[1:]]
    facts = [sorted({row[j] for row in rows} - {""}) if kind == "c" else None for j, kind in enumerate(types)]
    return Table(facts, rows, types[-1] == "c")


def halved(table):
    """Two classes by the median of the target."""
    middle = statistics.median(float(row[-1]) for row in table.rows)
    rows = [row[:-1] + ["b" if float(row[-1]) > middle else "a"] for row in table.rows]
    return Table(table.columns[:-1] + [["a", "b"]], rows, True)


def made(draw, columns, target, rows, seed):
    rng = random.Random(seed)
    return Table([*columns, target], [[cell if isinstance(cell, str) else f"{cell:.6g}" for cell in draw(rng)] for _ in range(rows)], isinstance(target, list))


def coin(rng, margin):
    return "b" if rng.random() < 1 / (1 + math.exp(-margin)) else "a"


def friedman(rows):
    def draw(rng):
        x = [rng.random() for _ in range(10)]
        return x + [10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - .5) ** 2 + 10 * x[3] + 5 * x[4] + rng.gauss(0, 1)]
    return made(draw, [(0, 1)] * 10, None, rows, 1)


def friedman_3(rows):
    def draw(rng):
        a, b, c, d = rng.uniform(0, 100), rng.uniform(40 * math.pi, 560 * math.pi), rng.random(), rng.uniform(1, 11)
        return [a, b, c, d, math.atan((b * c - 1 / (b * d)) / max(a, 1e-9)) + rng.gauss(0, .1)]
    return made(draw, [(0, 100), (125, 1760), (0, 1), (1, 11)], None, rows, 2)


def board(rows):
    """Four by four fields of two columns, a slope along a third, five columns of nothing."""
    def draw(rng):
        x = [rng.random() for _ in range(8)]
        field = 1 if (int(4 * x[0]) + int(4 * x[1])) % 2 else -1
        return x + [coin(rng, 2.5 * field + 1.5 * (x[2] - .5))]
    return made(draw, [(0, 1)] * 8, ["a", "b"], rows, 3)


def clusters(rows):
    """Twelve round clusters in ten columns, half of them in each class."""
    place = random.Random(4)
    centres = [[place.uniform(-1, 1) for _ in range(10)] for _ in range(12)]

    def draw(rng):
        k = rng.randrange(12)
        return [c + rng.gauss(0, .6) for c in centres[k]] + ["ab"[k % 2]]
    return made(draw, [(-2.5, 2.5)] * 10, ["a", "b"], rows, 5)


def crossed(rows):
    """Six columns of eight values: what counts is a table of two of them, and a little what a third says alone."""
    place = random.Random(6)
    table = [[place.choice([-2, 2]) for _ in range(8)] for _ in range(8)]
    alone = [place.gauss(0, .7) for _ in range(8)]
    values = list("stuvwxyz")

    def draw(rng):
        k = [rng.randrange(8) for _ in range(6)]
        return [values[i] for i in k] + [coin(rng, table[k[0]][k[1]] + alone[k[2]])]
    return made(draw, [values] * 6, ["a", "b"], rows, 7)


def signs(rows):
    """Three signs that count together, in six columns of numbers, and two slopes."""
    def draw(rng):
        x = [rng.uniform(-1, 1) for _ in range(6)]
        return x + [(1 if x[0] * x[1] * x[2] > 0 else -1) + .5 * x[3] - x[4] + rng.gauss(0, .3)]
    return made(draw, [(-1, 1)] * 6, None, rows, 8)


def signs_in_classes(rows):
    """The same in two classes."""
    def draw(rng):
        x = [rng.uniform(-1, 1) for _ in range(6)]
        return x + [coin(rng, (2.2 if x[0] * x[1] * x[2] > 0 else -2.2) + .8 * x[3] - .8 * x[4])]
    return made(draw, [(-1, 1)] * 6, ["a", "b"], rows, 102)


def wide(rows):
    """Two signs that count together, in sixteen columns."""
    def draw(rng):
        x = [rng.uniform(-1, 1) for _ in range(16)]
        return x + [coin(rng, (1.8 if x[0] * x[1] > 0 else -1.8) + x[2])]
    return made(draw, [(-1, 1)] * 16, ["a", "b"], rows, 105)


def plane(rows):
    """Twelve columns that act alone, and evenly."""
    place = random.Random(9)
    slopes = [place.gauss(0, 1) for _ in range(12)]

    def draw(rng):
        x = [rng.gauss(0, 1) for _ in range(12)]
        return [max(-3, min(3, t)) for t in x] + [sum(a * t for a, t in zip(slopes, x)) + rng.gauss(0, 2)]
    return made(draw, [(-3, 3)] * 12, None, rows, 106)


def gated(rows):
    """A group of categories and steps of two numbers that count together, and what a second category and a third number say alone."""
    place = random.Random(10)
    group = [place.choice([-1, 1]) for _ in range(8)]
    alone = [place.gauss(0, .6) for _ in range(8)]
    values = list("stuvwxyz")

    def draw(rng):
        k, m = rng.randrange(8), rng.randrange(8)
        x = [rng.random() for _ in range(5)]
        sign = group[k] * (1 if x[0] > .5 else -1) * (1 if x[1] > .4 else -1)
        return [values[k], values[m]] + x + [coin(rng, 2 * sign + alone[m] + x[2])]
    return made(draw, [values, values] + [(0, 1)] * 5, ["a", "b"], rows, 107)


def factors(rows):
    """Twelve columns of two hidden ones; the class is whether these are far out."""
    place = random.Random(11)
    loads = [(place.gauss(0, 1), place.gauss(0, 1)) for _ in range(12)]

    def draw(rng):
        u, v = rng.gauss(0, 1), rng.gauss(0, 1)
        return [max(-4, min(4, a * u + b * v + rng.gauss(0, .5))) for a, b in loads] + [coin(rng, 2 * (u * u + v * v - 3.5))]
    return made(draw, [(-4, 4)] * 12, ["a", "b"], rows, 108)


def product(rows):
    """A product of three columns, and what two others say alone, in eight."""
    def draw(rng):
        x = [rng.uniform(-1, 1) for _ in range(8)]
        return x + [4 * x[0] * x[1] * x[2] + .8 * x[3] + .5 * math.sin(3 * x[4]) + rng.gauss(0, .3)]
    return made(draw, [(-1, 1)] * 8, None, rows, 109)


def has(folder, name):
    return (folder / name).exists() or (folder / f"{name}.gz").exists()


def sets(folders, limit):
    """name → title, what makes the table, most rows of it (0: all), part kept aside"""
    found = {}
    for folder in folders:
        if has(folder, "adult.data"):
            found["adult"] = ("Adult (training rows)", lambda f=folder: adult(f), 0, .15)
        if has(folder, "housing.csv") and lines(folder, "housing.csv")[0].startswith("longitude"):
            found["california"] = ("California housing", lambda f=folder: california(f), 0, .15)
        for name, title in TABLES.items():
            if has(folder, name + ".csv"):
                found[name] = (title, lambda f=folder, n=name: numbers(f, n + ".csv"), limit, .2)
                if name in ("kin40k", "elevators", "protein"):
                    found[name + "-classes"] = (title + ", two classes", lambda f=folder, n=name: halved(numbers(f, n + ".csv")), limit, .2)
        for file in sorted(folder.glob("*.types")):
            found[file.stem] = (file.stem, lambda f=folder, n=file.stem: typed(f, n), limit, .2)
    for name, title, make in (("friedman", "Friedman's first function", friedman), ("friedman3", "Friedman's third function", friedman_3),
                              ("board", "a checker board with a slope", board), ("clusters", "clusters in two classes", clusters),
                              ("crossed", "crossed categories", crossed), ("signs", "three signs that count together", signs)):
        found[name] = (title, lambda m=make: m(limit), limit, .2)
    for name, title, make, rows in (("signs-classes", "three signs, two classes", signs_in_classes, 16000), ("wide", "two signs in sixteen columns", wide, 12000),
                                    ("gated", "categories and steps that count together", gated, 16000), ("factors", "two hidden columns", factors, 12000),
                                    ("product", "a product of three columns", product, 14000), ("plane", "a plane", plane, 8000)):
        most = min(limit, rows * 5 // 4)
        found[name] = (title, lambda m=make, r=most: m(r), most, .2)
    return found


def measure(sotto, folder, column, classes, epsilon, pure):
    words = COLUMNS[column] or ["--model", "logistic" if classes else "linear"]
    budget = ["--epsilon", epsilon] if pure else ["--epsilon", epsilon, "--delta", "1e-5"]
    with tempfile.TemporaryDirectory() as place:
        model = pathlib.Path(place) / "model"
        ask(sotto, "train", *words, "--data", folder / "train.csv", "--schema", folder / "schema.toml", *budget, "--out", model)
        quality = ask(sotto, "evaluate", "--model", model, "--data", folder / "test.csv")
    return quality["accuracy" if classes else "r2"]


def cell(value, best):
    text = f"{value:.3f}".replace("0.", ".")
    return f"**{text}**" if f"{value:.3f}" == f"{best:.3f}" else text


def tables(options):
    columns, epsilons = options.columns.split(","), options.epsilons.split(",")
    found = sets(options.folders, options.rows * 5 // 4)
    names = options.sets.split(",") if options.sets else list(found)
    for what, asked, known in (("set", names, found), ("column", columns, COLUMNS)):
        for name in asked:
            if name not in known:
                sys.exit(f"family_results: there is no {what} '{name}'; there are {', '.join(known)}")
    print("| | rows | ε | " + " | ".join(columns) + " |\n|---|---|---|" + "---|" * len(columns))
    for name in names:
        title, make, limit, part = found[name]
        table = make()
        fitting = [column for column in columns if table.classes or column != "naive Bayes"]
        figures = {}
        with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(options.jobs) as workers:
            under_way = []
            for run in range(options.runs):
                folder = pathlib.Path(directory) / str(run)
                folder.mkdir()
                rows = table.write(folder, limit, part, run)
                under_way += [(run, epsilon, column, workers.submit(measure, options.sotto, folder, column, table.classes, epsilon, options.pure))
                              for epsilon in epsilons for column in fitting]
            for run, epsilon, column, result in under_way:
                figures.setdefault((epsilon, column), []).append(result.result())
                if options.json:
                    with open(options.json, "a") as out:
                        out.write(json.dumps({"set": name, "classes": table.classes, "run": run, "epsilon": epsilon, "column": column,
                                              "quality": result.result()}) + "\n")
        for i, epsilon in enumerate(epsilons):
            means = {column: statistics.fmean(figures[epsilon, column]) for column in fitting}
            cells = [cell(means[column], max(means.values())) if column in means else "" for column in columns]
            print(f"| {'' if i else title} | {'' if i else rows} | {epsilon} | " + " | ".join(cells) + " |", flush=True)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{usage.ru_utime + usage.ru_stime:.0f} s of the processors", file=sys.stderr)


def summary(files):
    places, columns = {}, []
    for file in files:
        shown, _, path = file.rpartition("=")
        for line in open(path):
            one = json.loads(line)
            column = shown if shown and one["column"] == "auto" else one["column"]
            columns += [column] if column not in columns else []
            runs = places.setdefault(("classes" if one["classes"] else "a number", one["epsilon"]), {}).setdefault(one["set"], {}).setdefault(column, {})
            runs.setdefault(one["run"], []).append(one["quality"])
    families = [column for column in columns if column in COLUMNS and column != "auto"]
    print("| target | ε | sets | " + " | ".join(columns) + " |\n|---|---|---|" + "---|" * len(columns))
    for (target, epsilon), found in sorted(places.items()):
        below = {}
        for figures in found.values():
            means = {column: {run: statistics.fmean(qualities) for run, qualities in runs.items()} for column, runs in figures.items()}
            gaps = {}
            for run in means[families[0]]:
                best = max((family for family in families if family in means),
                           key=lambda family: statistics.fmean(quality for other, quality in means[family].items() if other != run))
                for column in means:
                    gaps.setdefault(column, []).append(means[column][run] - means[best][run])
            for column, own in gaps.items():
                below.setdefault(column, []).append(max(-.3, statistics.fmean(own)))
        cells = []
        for column in columns:
            own = below.get(column, [])
            near = sum(gap >= -.0055 for gap in own)
            cells.append(f"{statistics.fmean(own):+.3f} ({near})".replace("0.", ".").replace("-", "−") if own else "")
        print(f"| {target} | {epsilon} | {len(found)} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto", nargs="?")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--sets")
    parser.add_argument("--epsilons", default="3,1")
    parser.add_argument("--pure", action="store_true", help="without δ")
    parser.add_argument("--columns", default=",".join(COLUMNS))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=16000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", help="where single figures are added, a line each")
    parser.add_argument("--summary", nargs="+")
    options = parser.parse_args()
    if options.summary:
        summary(options.summary)
    elif options.sotto:
        tables(options)
    else:
        parser.error("SOTTO is missing")


if __name__ == "__main__":
    main()
