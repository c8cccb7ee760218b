#!/usr/bin/env python3
"""tuning_results.py SOTTO ADULT [RUNS]: the default against private tuning at the same total budget.

Trains logistic regression on the given training rows of Adult (ADULT: folder with adult.data, adult.test and adult.names) at epsilon 1 in all,
delta 1e-5: with all options at their defaults; tuned with scores on public rows; tuned with scores on the private rows. The public rows are the first half
of the given test rows, the figures are of the second half. Nothing is chosen by them: grid and mean number of trials were chosen on training rows.
"""
import pathlib
import statistics
import sys
import tempfile

from results import ask, prepare

BUDGET = ["--epsilon", "1", "--delta", "1e-5"]
GRID = "individual_budget = [true]\ntypical_norm = [0.5, 0.6, 0.7]\niterations = [400]\n"
TRIALS = ["--trials-mean", "2"]


def main(sotto, adult, runs="5"):
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        prepare(pathlib.Path(adult), folder)
        header, *rows = (folder / "test.csv").read_text().splitlines()
        half = len(rows) // 2
        (folder / "public.csv").write_text("\n".join([header, *rows[:half]]) + "\n")
        (folder / "last.csv").write_text("\n".join([header, *rows[half:]]) + "\n")
        data = ["--model", "logistic", "--data", folder / "train.csv", "--schema", folder / "schema.toml", *BUDGET]
        (folder / "grid.toml").write_text(GRID)
        tune = ["tune", *data, "--method", "gradient", "--grid", folder / "grid.toml", *TRIALS]
        ways = {"default": ["train", *data],
                "tuned on public rows": [*tune, "--validation", folder / "public.csv"],
                "tuned on private rows": tune}
        print(f"Adult, logistic, epsilon 1 in all, accuracy of {runs} runs\n")
        for name, words in ways.items():
            figures = []
            for run in range(int(runs)):
                place = folder / f"{name.replace(' ', '-')}-{run}"
                made = ask(sotto, *words, "--out", place)
                assert made["epsilon"] <= 1 + 1e-9
                figures.append(ask(sotto, "evaluate", "--model", place, "--data", folder / "last.csv")["accuracy"])
            error = statistics.stdev(figures) / len(figures) ** 0.5 if len(figures) > 1 else 0
            print(f"{name:22} mean {statistics.fmean(figures):.5f} ± {error:.5f}, from {min(figures):.4f} to {max(figures):.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
