#!/usr/bin/env python3
"""What clipping rules for fairness give the worst class: fairness_results.py SOTTO MNIST [KEPT] [ROWS] [RUNS] [MODEL] [EPSILON] [RULES] [OPTIONS…]

RULES are separated by commas (all), OPTIONS are those of `sotto train`.

Cuts class 8 of MNIST (a folder with its four IDX files) to KEPT (500) of its training rows, takes ROWS of the rest (all), trains MODEL (cnn) by each rule at equal
ε (3) and δ = 1e-5, RUNS times (5), and prints the mean accuracy over all test images, over class 8 and over the worst class of each run.
"""
import pathlib
import random
import shutil
import statistics
import struct
import sys
import tempfile

import results

RULES = {"plain": [], "dpsgd_f": ["--fairness", "dpsgd_f"], "global": ["--fairness", "global"], "bounded_adaptive": ["--fairness", "bounded_adaptive"],
         "adaptive (no floor)": ["--clipping", "adaptive"]}


def read(folder, part):
    with open(folder / f"{part}-images-idx3-ubyte", "rb") as file:
        _, count, height, width = struct.unpack(">IIII", file.read(16))
        pixels = file.read()
    labels = (folder / f"{part}-labels-idx1-ubyte").read_bytes()[8:]
    size = height * width
    return [(pixels[i * size:(i + 1) * size], labels[i]) for i in range(count)]


def write(folder, part, rows):
    with open(folder / f"{part}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">IIII", 0x803, len(rows), 28, 28) + b"".join(pixels for pixels, _ in rows))
    with open(folder / f"{part}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">II", 0x801, len(rows)) + bytes(label for _, label in rows))


def main(sotto, mnist, kept="500", most="60000", runs="5", model="cnn", epsilon="3", only="all", *options):
    source = pathlib.Path(mnist)
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        rows = read(source, "train")
        random.Random(1).shuffle(rows)
        eights = [row for row in rows if row[1] == 8][:int(kept)]
        others = [row for row in rows if row[1] != 8][:int(most) - len(eights)]
        rows = eights + others
        random.Random(2).shuffle(rows)
        write(folder, "train", rows)
        write(folder, "t10k", read(source, "t10k"))
        print(f"{len(rows)} rows, {len(eights)} of class 8, {model}, epsilon {epsilon}, mean of {runs} runs\n", flush=True)
        print("| rule | accuracy | class 8 | worst class |\n|---|---|---|---|")
        for rule, words in RULES.items():
            if only != "all" and rule not in only.split(","):
                continue
            figures = []
            for run in range(int(runs)):
                place = folder / "model"
                trained = results.ask(sotto, "train", "--model", model, "--data", folder, "--rows", len(rows), "--epsilon", epsilon, "--delta", "1e-5",
                                      "--out", place, *words, *options)
                assert trained["epsilon"] <= float(epsilon) * (1 + 1e-9)
                quality = results.ask(sotto, "evaluate", "--model", place, "--data", folder)
                recalls = [c["recall"] for c in quality["classes"]]
                figures.append((quality["accuracy"], recalls[8], min(recalls)))
                shutil.rmtree(place)
            print(f"| {rule} | " + " | ".join(f"{statistics.fmean(column):.4f}" for column in zip(*figures)) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
