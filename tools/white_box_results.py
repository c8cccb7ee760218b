#!/usr/bin/env python3
"""What a white-box audit of one step of a network finds of its epsilon: docs/math/audit.md.

tools/white_box_results.py SOTTO [CANARIES [SEEDS [EPSILON ...]]] prints, for each epsilon, the mean over the seeds of
the share of the claim that each figure reaches, and its least and largest value. The data are made up.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

SCHEMA = """relation = "add_remove"
rows = {rows}
[columns.x]
type = "numeric"
bounds = [0, 1]
[columns.y]
type = "categorical"
values = ["a", "b"]
role = "target"
"""
FIGURES = {"proved": lambda d: d["epsilon_lower"],
           "coins, Gaussian": lambda d: d["one_run_gdp"]["epsilon_lower"],
           "error rates": lambda d: d["gdp"]["epsilon_lower"],
           "shift": lambda d: d["shift"]["epsilon_lower"]}


def audited(sotto, folder, canaries, epsilon, seed):
    said = subprocess.run(
        [sotto, "audit", "train", "--canary", "gradient", "--canaries", str(canaries), "--insecure-seed", str(seed), "-q",
         "--json", "--", "train", "--data", f"{folder}/data.csv", "--schema", f"{folder}/schema.toml", "--model", "mlp",
         "--hidden", "8", "--steps", "1", "--sampling", "full_batch", "--epsilon", str(epsilon), "--delta", "1e-5",
         "--out", f"{folder}/model"], check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def main():
    sotto, *rest = sys.argv[1:]
    canaries, seeds = (int(x) for x in (rest + ["10000", "5"][len(rest):])[:2])
    rows = 2 * canaries
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "schema.toml").write_text(SCHEMA.format(rows=rows))
        pathlib.Path(folder, "data.csv").write_text(
            "x,y\n" + "".join(f"{random.random():.3f},{random.choice('ab')}\n" for _ in range(rows)))
        for epsilon in [float(e) for e in rest[2:]] or [1, 2, 4, 8]:
            runs = [audited(sotto, folder, canaries, epsilon, s + 1) for s in range(seeds)]
            for name, figure in FIGURES.items():
                shares = [figure(d) / d["claim"] for d in runs]
                print(f"epsilon {epsilon:g}, {canaries} canaries, {name:16} {statistics.mean(shares):.2f} "
                      f"({min(shares):.2f} to {max(shares):.2f})", flush=True)


if __name__ == "__main__":
    main()
