#!/usr/bin/env python3
"""k-means rounds and principal components, timed and measured beside scikit-learn.

    bench/unsupervised_bench.py build/bin/sotto [--folder FOLDER] [--only rounds,syrk,memory,mnist,adult]
                                [--mnist FOLDER] [--adult adult.data.gz] [--runs 5]

Makes tables in FOLDER (default: a temporary one).
  rounds  a round is the difference between a long and a short run, divided by the rounds between, so
          that reading the file does not count; on both sides. Without python3-sklearn only ours.
  syrk    components of 60000 x 784 numbers beside the matrix product alone.
  memory  the largest resident size of training on 100000 to 4000000 rows: it grows with the rows up
          to 128 MB of them (and of those about a centre, for kmeans), and no further.
  mnist   k-means on images projected to 32 dimensions, and 10 components (IDX files in --mnist).
  adult   5 components of Adult (--adult: the file of the UCI), 3 with a pure epsilon.
Figures are means of --runs runs; ratios are to what scikit-learn finds without privacy.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    from sklearn.cluster import KMeans
except ImportError:
    KMeans = None

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


def processors():
    """Seconds that processors have worked for us and for what we called."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def seconds(call, clock=time.perf_counter):
    best = float("inf")
    for _ in range(3):
        start = clock()
        call()
        best = min(best, clock() - start)
    return best


class Command:
    def __init__(self, sotto, folder):
        self.sotto, self.out = os.path.abspath(sotto), os.path.join(folder, "model")

    def train(self, *words):
        subprocess.run(["rm", "-rf", self.out], check=True)
        subprocess.run([self.sotto, "train", *words, "--out", self.out, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def figure(self, data, name):
        answer = subprocess.run([self.sotto, "evaluate", "--model", self.out, "--data", data, "--json"],
                                check=True, capture_output=True, text=True).stdout
        return json.loads(answer)[name]

    def megabytes(self, *words):
        """The largest resident size, asked for while it runs: what wait4 says includes our own."""
        subprocess.run(["rm", "-rf", self.out], check=True)
        process = subprocess.Popen([self.sotto, "train", *words, "--out", self.out, "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        largest = 0
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as file:
                    lines = [line for line in file if line.startswith("VmHWM")]
            except OSError:
                lines = []
            if lines:
                largest = int(lines[0].split()[1])
            time.sleep(0.002)
        assert process.returncode == 0
        return largest / 1024


def rounds(command, folder, options):
    for rows, width, clusters in ((15000, 16, 8), (60000, 32, 10), (500000, 16, 8)):
        x = mixture(rows, width, clusters, 0.2, 9)
        words = table(folder, "mixture", x, 1)
        start = x[:clusters].copy()
        few, many = 2, 22

        def ours(count):
            command.train(*words, "--model", "kmeans", "--clusters", str(clusters), "--method", "lloyd",
                          "--iterations", str(count), *BUDGET)

        def a_round(call, clock):
            return 1e3 * (seconds(lambda: call(many), clock) - seconds(lambda: call(few), clock)) / (many - few)

        line = (f"kmeans {rows} x {width}, k = {clusters}: a round {a_round(ours, time.perf_counter):.2f} ms, "
                f"{a_round(ours, processors):.2f} ms of processors")
        if KMeans is not None:
            def lloyd(count):
                KMeans(clusters, init=start, n_init=1, max_iter=count, tol=0, algorithm="lloyd").fit(x)

            line += (f", scikit-learn {a_round(lloyd, time.perf_counter):.2f} and "
                     f"{a_round(lloyd, processors):.2f}")
            best = min(KMeans(clusters, n_init=1, random_state=s).fit(x).inertia_ for s in range(5))
            line += "; inertia of k-means++"
            for method in ("coreset", "lloyd", "aggregate"):
                ratios = []
                for _ in range(options.runs):
                    command.train(*words, "--model", "kmeans", "--clusters", str(clusters), "--method",
                                  method, *BUDGET)
                    ratios.append(command.figure(words[1], "inertia") / best)
                line += f" {np.mean(ratios):.4f} ({method})"
        print(line, flush=True)


def syrk(command, folder, options):
    x = mixture(60000, 784, 10, 0.2, 9)
    words = table(folder, "wide", x, 1)
    product = seconds(lambda: x.T @ x)
    whole = seconds(lambda: command.train(*words, "--model", "pca", "--components", "10", *BUDGET))
    print(f"pca 60000 x 784: {whole:.2f} s with reading the file; the matrix product alone "
          f"{product:.2f} s by numpy", flush=True)


def memory(command, folder, options):
    used = {}
    for rows in (100_000, 1_000_000, 2_000_000, 4_000_000):
        words = table(folder, "long", mixture(rows, 20, 8, 0.2, 3), 1)
        for model, more in (("pca", ["--components", "5"]), ("kmeans", ["--clusters", "8", "--method", "lloyd"])):
            used.setdefault(model, []).append(
                f"{command.megabytes(*words, '--model', model, *more, *BUDGET):.0f} MB with {rows}")
    for model, figures in used.items():
        print(f"{model}: {', '.join(figures)} rows of 20 numbers", flush=True)


def captured(x, directions):
    return float(((x @ np.linalg.qr(directions.T)[0]) ** 2).sum())


def share_of_best(command, x, components):
    """What released components capture of centred x, beside the best that there are."""
    y = x - x.mean(axis=0)
    _, vectors = np.linalg.eigh(y.T @ y)
    with open(os.path.join(command.out, "model.json")) as file:
        found = np.array(json.load(file)["components"])
    return captured(y, found) / captured(y, vectors[:, -components:].T)


def mnist(command, folder, options):
    with open(os.path.join(options.mnist, "train-images-idx3-ubyte"), "rb") as file:
        images = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 784) / 255.0
    # A public projection: 32 orthogonal directions, drawn without looking at an image.
    directions = np.linalg.qr(np.random.default_rng(7).normal(size=(784, 32)))[0]
    x = (images - 0.5) @ directions
    words = table(folder, "projected", x, float(np.ceil(np.abs(directions).sum(axis=0).max() / 2)))
    best = None if KMeans is None else min(KMeans(10, n_init=1, random_state=s).fit(x).inertia_
                                           for s in range(5))
    for method in ("coreset", "aggregate"):
        found = []
        for _ in range(options.runs):
            command.train(*words, "--model", "kmeans", "--clusters", "10", "--method", method, *BUDGET)
            found.append(command.figure(words[1], "inertia"))
        ratio = "" if best is None else f", {np.mean(found) / best:.4f} of k-means++"
        print(f"mnist in 32 dimensions, k = 10, {method}: inertia {np.mean(found):.0f}{ratio}", flush=True)
    words = table(folder, "images", images, 1)
    with open(words[3]) as file:
        schema = file.read().replace("[-1, 1]", "[0, 1]")
    with open(words[3], "w") as file:
        file.write(schema)
    shares = []
    for _ in range(options.runs):
        command.train(*words, "--model", "pca", "--components", "10", *BUDGET)
        shares.append(share_of_best(command, 2 * images - 1, 10))
    print(f"mnist, 10 components: {np.mean(shares):.4f} of the best (worst run {min(shares):.4f})", flush=True)


NUMBERS = {"age": (17, 100), "fnlwgt": (0, 1500000), "education_num": (1, 16), "gain": (0, 100000),
           "loss": (0, 4500), "hours": (1, 100)}
NAMES = ("age workclass fnlwgt education education_num marital occupation relationship race sex gain loss "
         "hours country income").split()


def adult(command, folder, options):
    with gzip.open(options.adult, "rt") as file:
        rows = [line.strip().split(", ") for line in file if line.strip()]
    data, schema = os.path.join(folder, "adult.csv"), os.path.join(folder, "adult.toml")
    with open(data, "w") as file:
        file.write("\n".join([",".join(NAMES)] + [",".join(row) for row in rows]) + "\n")
    blocks = []
    with open(schema, "w") as file:
        file.write(f'relation = "add_remove"\nrows = {len(rows)}\n')
        for j, name in enumerate(NAMES):
            cells = [row[j] for row in rows]
            if name in NUMBERS:
                low, high = NUMBERS[name]
                file.write(f'[columns.{name}]\ntype = "numeric"\nbounds = [{low}, {high}]\n')
                number = np.clip(np.array(cells, float), low, high)
                blocks.append(((number - (low + high) / 2) / ((high - low) / 2))[:, None])
            else:
                values = sorted(set(cells))
                file.write(f'[columns.{name}]\ntype = "categorical"\nvalues = {json.dumps(values)}\n'
                           'missing = "refuse"\n')
                blocks.append((np.array(cells)[:, None] == np.array(values)).astype(float))
    x = np.hstack(blocks)
    for components, budget in ((5, BUDGET), (3, ["--epsilon", "1"])):
        shares = []
        for _ in range(options.runs):
            command.train("--data", data, "--schema", schema, "--model", "pca", "--components",
                          str(components), *budget)
            shares.append(share_of_best(command, x, components))
        print(f"adult, {components} components, {' '.join(budget)}: {np.mean(shares):.4f} of the best "
              f"(worst run {min(shares):.4f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sotto")
    parser.add_argument("--folder")
    parser.add_argument("--only", default="rounds,syrk,memory")
    parser.add_argument("--mnist")
    parser.add_argument("--adult")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp()
    command = Command(options.sotto, folder)
    for part in options.only.split(","):
        {"rounds": rounds, "syrk": syrk, "memory": memory, "mnist": mnist, "adult": adult}[part](
            command, folder, options)


if __name__ == "__main__":
    main()
