#!/usr/bin/env python3
"""k-means rounds and principal components, timed and measured beside scikit-learn.

    python3 bench/unsupervised_bench.py build/bin/sotto [FOLDER]

Makes tables in FOLDER (default: a temporary one). A round is the difference between a long and a
short run, divided by the rounds between, so that reading the file does not count; on both sides.
Needs python3-sklearn.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.cluster import KMeans

BUDGET = ["--epsilon", "1", "--delta", "1e-6"]


def table(folder, name, x, bound):
    rows, width = x.shape
    np.save(os.path.join(folder, name + ".npy"), x)
    with open(os.path.join(folder, name + ".toml"), "w") as out:
        out.write(f'relation = "add_remove"\nrows = {rows}\n')
        for j in range(width):
            out.write(f'[columns.x{j}]\ntype = "numeric"\nbounds = [{-bound}, {bound}]\n')
    return ["--data", os.path.join(folder, name + ".npy"),
            "--schema", os.path.join(folder, name + ".toml")]


def mixture(rows, width, clusters, deviation, seed):
    random = np.random.default_rng(seed)
    centres = random.uniform(-0.6, 0.6, size=(clusters, width))
    x = centres[random.integers(clusters, size=rows)]
    return np.clip(x + deviation * random.normal(size=x.shape), -1, 1)


def seconds(call):
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    sotto = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    out = os.path.join(folder, "model")

    def run(*words):
        subprocess.run(["rm", "-rf", out], check=True)
        subprocess.run([sotto, "train", *words, "--out", out, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def evaluated(data, figure):
        answer = subprocess.run([sotto, "evaluate", "--model", out, "--data", data, "--json"],
                                check=True, capture_output=True, text=True).stdout
        return json.loads(answer)[figure]

    for rows, width, clusters in ((15000, 16, 8), (60000, 32, 10), (500000, 16, 8)):
        x = mixture(rows, width, clusters, 0.2, 9)
        words = table(folder, "mixture", x, 1)
        start = x[:clusters].copy()

        def lloyd(rounds):
            KMeans(clusters, init=start, n_init=1, max_iter=rounds, tol=0,
                   algorithm="lloyd").fit(x)

        def ours(rounds):
            run(*words, "--model", "kmeans", "--clusters", str(clusters), "--method", "lloyd",
                "--iterations", str(rounds), *BUDGET)

        few, many = 2, 22
        theirs = (seconds(lambda: lloyd(many)) - seconds(lambda: lloyd(few))) / (many - few)
        mine = (seconds(lambda: ours(many)) - seconds(lambda: ours(few))) / (many - few)
        best = min(KMeans(clusters, n_init=1, random_state=s).fit(x).inertia_ for s in range(5))
        ratios = []
        for _ in range(5):
            run(*words, "--model", "kmeans", "--clusters", str(clusters), *BUDGET)
            ratios.append(evaluated(words[1], "inertia") / best)
        print(f"kmeans {rows} x {width}, k = {clusters}: a round {1e3 * mine:.2f} ms, "
              f"scikit-learn {1e3 * theirs:.2f} ms; inertia {np.mean(ratios):.4f} of k-means++")

    x = mixture(60000, 784, 10, 0.2, 9)
    words = table(folder, "wide", x, 1)
    product = seconds(lambda: x.T @ x)
    whole = seconds(lambda: run(*words, "--model", "pca", "--components", "10", *BUDGET))
    print(f"pca 60000 x 784: {whole:.2f} s with reading the file; the matrix product alone "
          f"{product:.2f} s by numpy")


if __name__ == "__main__":
    main()
