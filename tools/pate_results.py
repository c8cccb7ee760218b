#!/usr/bin/env python3
"""Figures of teachers that vote: pate_results.py SOTTO adult FOLDER [RUNS] | pate_results.py SOTTO mnist FOLDER [RUNS]

adult: the census table as tools/results.py reads it. The given test rows are split in two, by a fixed shuffle for each run: half of them
are public records without labels, the student is evaluated on the other half.
mnist: a folder with the four IDX files. 9 000 test images are public, without labels; the student is evaluated on the other 1 000; another
split for each run. Features are fitted on the public images only.
Prints for each run accuracy, the guarantee, the sanitised epsilon as released, its upper bound, and wall time; then the means.
"""
import json
import pathlib
import random
import statistics
import struct
import sys
import tempfile
import time

import results

TEACHERS = 250
ADULT = ["--model", "logistic", "--standardise", "--regularisation", "1e-5", "--queries", "800", "--sigma", "46"]
MNIST = ["--model", "logistic", "--regularisation", "1e-8", "--queries", "400", "--neighbours", "10", "--sigma", "40", "--agreement", "0.99", "--opinions", "ridge"]
FEATURES = ["--upright", "--degree", "2", "--components", "600"]


def report(runs):
    print("| run | accuracy | ε guarantee | ε sanitised | ε upper | seconds |\n|---|---|---|---|---|---|")
    rows = []
    for number, run in enumerate(runs):
        rows.append(run)
        print(f"| {number} | {run[0]:.4f} | {run[1]:.3f} | {run[2]:.3f} | {run[3]:.3f} | {run[4]:.0f} |", flush=True)
    mean = [statistics.fmean(column) for column in zip(*rows)]
    print(f"| mean | {mean[0]:.4f} | {mean[1]:.3f} | {mean[2]:.3f} | {mean[3]:.3f} | {mean[4]:.0f} |")


def one(sotto, folder, data, schema, public, test, options, started):
    made = results.ask(sotto, "pate", "run", "--data", data, "--schema", schema, "--public", public, "--teachers", TEACHERS, "--delta",
                       "1e-5", *options, "--out", folder / "student")
    quality = results.ask(sotto, "evaluate", "--model", folder / "student", "--data", test)
    return (quality["accuracy"], made["epsilon_data_independent"], made["epsilon"], made["epsilon_upper"], time.time() - started)


def adult(sotto, source, runs, more):
    for run in range(runs):
        with tempfile.TemporaryDirectory() as directory:
            folder, started = pathlib.Path(directory), time.time()
            results.prepare(pathlib.Path(source), folder)
            header, *rows = (folder / "test.csv").read_text().splitlines()
            random.Random(run).shuffle(rows)
            half = len(rows) // 2
            for name, part in (("pool.csv", rows[:half]), ("rest.csv", rows[half:])):
                (folder / name).write_text("\n".join([header, *part]) + "\n")
            yield one(sotto, folder, folder / "train.csv", folder / "schema.toml", folder / "pool.csv", folder / "rest.csv", ADULT + more,
                      started)


def write_images(path, pixels, chosen):
    path.write_bytes(struct.pack(">HBBIII", 0, 8, 3, len(chosen), 28, 28) + b"".join(pixels[16 + 784 * i:16 + 784 * (i + 1)] for i in chosen))


def mnist(sotto, source, runs, more):
    source = pathlib.Path(source)
    pixels, labels = (source / "t10k-images-idx3-ubyte").read_bytes(), (source / "t10k-labels-idx1-ubyte").read_bytes()
    for run in range(runs):
        with tempfile.TemporaryDirectory() as directory:
            folder, started = pathlib.Path(directory), time.time()
            order = list(range(10000))
            random.Random(run).shuffle(order)
            pool, rest = sorted(order[:9000]), sorted(order[9000:])
            write_images(folder / "pool.idx", pixels, pool)
            write_images(folder / "rest.idx", pixels, rest)
            (folder / "rest-labels.idx").write_bytes(struct.pack(">HBBI", 0, 8, 1, len(rest)) + bytes(labels[8 + i] for i in rest))
            results.ask(sotto, "features", "fit", "--public", folder / "pool.idx", "--rows", 60000, *FEATURES, "--out", folder / "features")
            for images, classes, name in ((source / "train-images-idx3-ubyte", source / "train-labels-idx1-ubyte", "train.npy"),
                                          (folder / "pool.idx", None, "pool.npy"), (folder / "rest.idx", folder / "rest-labels.idx", "rest.npy")):
                results.ask(sotto, "features", "apply", "--features", folder / "features", "--images", images,
                            *(["--labels", classes] if classes else []), "--out", folder / name)
            yield one(sotto, folder, folder / "train.npy", folder / "features" / "schema.toml", folder / "pool.npy", folder / "rest.npy",
                      MNIST + more, started)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] not in ("adult", "mnist"):
        sys.exit(__doc__)
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    report(globals()[sys.argv[2]](sys.argv[1], sys.argv[3], count, sys.argv[5:]))
