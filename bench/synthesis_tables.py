#!/usr/bin/env python3
"""Made-up tables for `bench/synthesis_sets.py`, always the same: the last column is the target.

    bench/synthesis_tables.py FOLDER

  shop    240 × 8     a number; skewed columns, a category and three numbers say something about it
  clinic  700 × 12    three classes; one hidden quantity is in most columns
  meters  6 000 × 9   a number; columns hardly depend on each other, two say something only together
  loans   400 × 10    two classes; categories and numbers, many of them say nothing
  plots   900 × 7     a number; columns are independent, and what they say of it is weak
  trips   20 000 × 11 three classes; whole numbers, categories, chains of columns
"""
import csv
import sys
from pathlib import Path

import numpy as np


def shop(r):
    n = 240
    visits = r.poisson(3 * r.gamma(2, 0.7, n))
    distance = np.round(r.lognormal(1.2, 0.8, n), 1).clip(0, 60)
    age = r.integers(18, 80, n)
    card = r.choice(["none", "blue", "gold"], n, p=[0.5, 0.35, 0.15])
    month = r.integers(1, 13, n)
    score = np.round(r.beta(5, 2, n) * 10, 2)
    items = r.poisson(1 + visits / 2)
    spend = np.round(12 * items + 25 * (card == "gold") + 8 * (card == "blue") - 0.5 * distance +
                     r.gamma(2, 8, n), 2).clip(0, 400)
    return {"visits": visits, "distance": distance, "age": age, "card": card, "month": month,
            "score": score, "items": items, "spend": spend}


def clinic(r):
    n, hidden = 700, r.normal(size=700)
    table = {}
    for j in range(9):
        part = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0, 0][j]
        table[f"lab{j}"] = np.round(50 + 12 * (part * hidden + np.sqrt(1 - part ** 2) * r.normal(size=n)), 1)
    table["smokes"] = np.where(r.random(n) < 1 / (1 + np.exp(1 - hidden)), "yes", "no")
    table["ward"] = r.choice(list("ABCDE"), n, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    table["state"] = np.digitize(hidden + 0.5 * r.normal(size=n), [-0.4, 1.0])
    return table


def meters(r):
    n = 6000
    x = r.random((n, 8))
    x[:, 1] = x[:, 1] ** 3
    x[:, 2] = np.where(r.random(n) < 0.3, 0, x[:, 2])
    x[:, 3] = 0.3 * x[:, 0] + 0.7 * x[:, 3]
    y = np.sin(6 * x[:, 0]) + 4 * (x[:, 4] - 0.5) * (x[:, 5] - 0.5) + x[:, 2] + 0.3 * r.normal(size=n)
    return {**{f"m{j}": np.round(x[:, j], 4) for j in range(8)}, "load": np.round(y, 3)}


def loans(r):
    n = 400
    income = np.round(r.lognormal(3.6, 0.5, n), 1).clip(5, 300)
    debt = np.round(income * r.beta(1.5, 4, n), 1)
    job = r.choice(["self", "state", "firm", "none"], n, p=[0.15, 0.2, 0.55, 0.1])
    years = np.where(job == "none", 0, r.poisson(6, n)).clip(0, 40)
    home = np.where(r.random(n) < 0.2 + 0.5 * (income > 40), "own", "rent")
    late = r.poisson(0.4 + 0.8 * (job == "none")).clip(0, 10)
    risk = -1.2 + 0.9 * late + 3 * debt / income - 0.05 * years - 0.01 * income
    paid = (r.random(n) > 1 / (1 + np.exp(-1.5 * risk))).astype(int)
    return {"income": income, "debt": debt, "job": job, "years": years, "home": home, "late": late,
            "region": r.choice(list("NESW"), n), "branch": r.integers(1, 9, n),
            "noise": np.round(r.normal(size=n), 2), "paid": paid}


def plots(r):
    n = 900
    x = {"rain": np.round(r.gamma(4, 20, n), 1), "slope": np.round(r.exponential(4, n), 1).clip(0, 30),
         "ph": np.round(r.normal(6.5, 0.6, n), 2), "clay": np.round(100 * r.beta(2, 5, n), 1),
         "kind": r.choice(["oat", "rye", "pea"], n), "depth": r.integers(20, 120, n)}
    x["crop"] = np.round(5 + 0.01 * x["rain"] - 0.05 * x["slope"] + 0.4 * (x["kind"] == "pea") +
                         r.normal(size=n), 2)
    return x


def trips(r):
    n = 20000
    hour = (r.normal(8.5, 1.5, n) * (r.random(n) < 0.5) + r.uniform(6, 23, n)).astype(int) % 24
    far = r.gamma(1.5, 5, n).clip(0.2, 80)
    rain = r.random(n) < 0.25
    bags = r.poisson(0.3 + far / 20).clip(0, 9)
    with_child = r.random(n) < 0.15
    bike = 1.5 - 0.35 * far - 1.5 * rain - bags - 2 * with_child
    car = -0.5 + 0.06 * far + 0.8 * rain + 0.7 * bags + with_child
    mode = np.argmax(np.stack([bike, car, np.zeros(n)]) + r.gumbel(size=(3, n)), 0)
    minutes = far * np.array([4, 1.8, 3])[mode] + r.gamma(2, 3, n)
    return {"hour": hour, "km": np.round(far, 1), "rain": np.where(rain, "yes", "no"), "bags": bags,
            "child": np.where(with_child, "yes", "no"), "minutes": np.round(minutes),
            "cost": np.round(np.where(mode == 1, 0.3 * far + 2, np.where(mode == 2, 2.8, 0)), 1),
            "age": r.integers(15, 90, n), "zone": r.choice(list("abcdef"), n, p=[.3, .25, .2, .1, .1, .05]),
            "day": r.integers(1, 8, n), "mode": mode}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed, make in enumerate((shop, clinic, meters, loans, plots, trips)):
        table = make(np.random.default_rng(100 + seed))
        with open(folder / f"{make.__name__}.csv", "w", newline="") as file:
            csv.writer(file).writerows([list(table)] + [list(row) for row in zip(*table.values())])


if __name__ == "__main__":
    main()
