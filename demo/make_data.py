#!/usr/bin/env python3
"""Makes demo/clinic.csv: invented visits to an invented clinic. make_data.py > clinic.csv

One row is one patient's visit. Nobody is described: ages, pressures and costs come from a small model of how they hang
together (older patients are seen more often by cardiology, stay longer, cost more and come back more often).
The seed is fixed, so the file can be made again bit by bit; a test does so.
"""
import csv
import math
import random
import sys

ROWS = 5000
DEPARTMENTS = ["cardiology", "dermatology", "emergency", "orthopedics", "pediatrics", "pulmonology"]
COLUMNS = ["age", "sex", "department", "systolic", "bmi", "smoker", "visits", "cost", "readmitted"]


def department(rng, age, smoker):
    if age < 16:
        weights = [1, 6, 25, 10, 55, 3]
    else:
        weights = [4 + age / 3, 14, 25, 18, 0, 6 + 9 * smoker + age / 10]
    return rng.choices(DEPARTMENTS, weights)[0]


def visit(rng):
    age = min(98, max(0, round(rng.gauss(52, 19) if rng.random() < 0.88 else rng.uniform(0, 16))))
    sex = rng.choice(["female", "male"])
    smoker = age >= 16 and rng.random() < (0.26 if sex == "male" else 0.19)
    place = department(rng, age, smoker)
    bmi = max(13.0, rng.gauss(17 if age < 16 else 26 + 0.02 * age, 3.8))
    systolic = max(80, round(rng.gauss(98 + 0.5 * age + 0.55 * (bmi - 25) + 5 * smoker, 12)))
    visits = min(30, int(-math.log(1 - rng.random()) * (1.0 + age / 25)))
    base = {"cardiology": 6.6, "emergency": 6.0, "orthopedics": 6.2, "pulmonology": 6.1}.get(place, 5.0)
    cost = min(9500.0, math.exp(rng.gauss(base + 0.006 * age, 0.55)))
    score = -4.2 + 0.028 * age + 0.9 * smoker + 0.16 * visits + 0.9 * (place == "cardiology") + 0.02 * (systolic - 125)
    readmitted = rng.random() < 1 / (1 + math.exp(-score))
    yes_no = ["no", "yes"]
    return [age, sex, place, systolic, f"{bmi:.1f}", yes_no[smoker], visits, f"{cost:.2f}", yes_no[readmitted]]


def write(out):
    rng = random.Random(20240131)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _ in range(ROWS):
        writer.writerow(visit(rng))


if __name__ == "__main__":
    write(sys.stdout)
