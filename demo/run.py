#!/usr/bin/env python3
"""The tour of `make demo`: run.py SOTTO OUT

Asks the real command four questions about demo/clinic.csv, adds up what the answers cost together, finds the noise
that private deep learning would need, and trains a private model. Writes OUT/report.md and everything it is made of.
"""
import csv
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "clinic.csv"
DEPARTMENTS = ["cardiology", "dermatology", "emergency", "orthopedics", "pediatrics", "pulmonology"]
DELTA = 1e-6


class Tour:
    def __init__(self, sotto, out):
        self.sotto, self.out = pathlib.Path(sotto), pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.events, self.lines = [], []
        with open(DATA, newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def say(self, text=""):
        """A line for the reader, on the terminal and in the report."""
        print(text, flush=True)
        self.lines.append(text)

    def run(self, *words):
        """Shows a command as a user would type it, runs it and gives what it printed."""
        shown = [str(word).replace(str(HERE.parent) + "/", "") for word in words]
        self.say("    $ sotto " + shlex.join(shown))
        outcome = subprocess.run([self.sotto, *map(str, words)], stdout=subprocess.PIPE, text=True)
        if outcome.returncode != 0:
            sys.exit(f"demo: sotto {shlex.join(shown)} ended with exit code {outcome.returncode}")
        return outcome.stdout

    def release(self, name, *words):
        """One private answer; its event is kept for the accountant."""
        text = self.run("release", *words, "--json")
        (self.out / f"{name}.json").write_text(text)
        answer = json.loads(text)
        self.events.append(answer["event"])
        return answer

    def document(self, name, content):
        path = self.out / name
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path


def interval(value, noise):
    width = noise["half_width_95"]
    return f"{value:.6g}" if width is None else f"{value:.6g} ± {width:.3g}"


def ask_count(tour):
    answer = tour.release("count", "count", "--data", DATA, "--epsilon", 0.2)
    return [("visits", answer, interval(answer["value"], answer["noise"]), len(tour.rows))]


def ask_mean(tour):
    answer = tour.release("mean-age", "mean", "--data", DATA, "--column", "age", "--lower", 0, "--upper", 100, "--epsilon", 0.4)
    truth = statistics.fmean(float(row["age"]) for row in tour.rows)
    return [("mean age", answer, interval(answer["value"], answer["noise"]), f"{truth:.4g}")]


def ask_histogram(tour):
    answer = tour.release("departments", "histogram", "--data", DATA, "--column", "department",
                          "--values", ",".join(DEPARTMENTS), "--epsilon", 0.2)
    truth = {place: sum(row["department"] == place for row in tour.rows) for place in DEPARTMENTS}
    return [(place, answer if place == DEPARTMENTS[0] else None, interval(count, answer["noise"]), truth[place])
            for place, count in answer["value"].items()]


def ask_median(tour):
    answer = tour.release("median-cost", "quantile", "--data", DATA, "--column", "cost", "--lower", 0, "--upper", 10000,
                          "--probability", 0.5, "--epsilon", 0.4)
    truth = statistics.median(float(row["cost"]) for row in tour.rows)
    return [("median cost", answer, interval(answer["value"], answer["noise"]), f"{truth:.6g}")]


def questions(tour):
    tour.say("1. Four questions, each answered with noise and with its guarantee")
    tour.say()
    rows = [row for ask in (ask_count, ask_mean, ask_histogram, ask_median) for row in ask(tour)]
    tour.say()
    tour.say("| quantity | private answer, noise 95 % | ε | without privacy |")
    tour.say("|---|---|---|---|")
    for name, answer, value, truth in rows:
        cost = f"{answer['epsilon']:.4g}" if answer else "〃"
        tour.say(f"| {name} | {value} | {cost} | {truth} |")
    tour.say()
    tour.say("The last column is known only because these patients are invented. The six departments are one answer: a visit")
    tour.say("is in one of them. A median has no noise interval: it is chosen, not noised.")


def total(tour):
    tour.say("2. What the answers cost together")
    tour.say()
    spec = tour.document("spent.json", {"schema": 1, "relation": "add_remove", "events": tour.events})
    answer = json.loads(tour.run("account", spec, "--delta", DELTA, "--json"))
    tour.say()
    lower = answer["epsilon_lower"]
    tight = f"; no accountant can claim less than {lower:.4g}" if lower > 0 else ""
    tour.say(f"Together ε ≤ {answer['epsilon']:.4g} at δ = {DELTA:g} (accountant {answer['accountant']}{tight}).")
    tour.say("The unit is one visit; neighbours are tables with one visit more or less.")


def calibration(tour):
    tour.say("3. The noise of a private training run: 20 passes in batches of about 250, (ε, δ) = (2, 1e-6)")
    tour.say()
    step = {"sampled": {"scheme": "poisson", "rate": 0.05, "event": {"gaussian": {"noise_multiplier": "?"}}}}
    events = [{"repeat": {"count": 400, "event": step}}]
    spec = tour.document("dpsgd.json", {"schema": 1, "relation": "add_remove", "events": events})
    answer = json.loads(tour.run("calibrate", spec, "--epsilon", 2, "--delta", DELTA, "--json"))
    tour.say()
    tour.say(f"Noise multiplier {answer['value']:.5g}: 400 Poisson-sampled steps then cost ε ≤ {answer['epsilon']:.6g}.")


def training(tour):
    tour.say("4. A private model: will a patient come back?")
    tour.say()
    train, test = tour.out / "train.csv", tour.out / "test.csv"
    lines = DATA.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = 1 + (len(lines) - 1) * 4 // 5  # the rows are in no particular order
    train.write_text("".join(lines[:cut]), encoding="utf-8")
    test.write_text("".join(lines[:1] + lines[cut:]), encoding="utf-8")
    place = tour.out / "model"
    shutil.rmtree(place, ignore_errors=True)
    fit = json.loads(tour.run("train", "--data", train, "--schema", HERE / "clinic.toml", "--model", "logistic",
                              "--epsilon", 1, "--delta", DELTA, "--out", place, "--json"))
    quality = json.loads(tour.run("evaluate", "--model", place, "--data", test, "--json"))
    tour.run("verify", place)
    tour.say()
    answers = [row["readmitted"] for row in tour.rows[cut - 1:]]
    majority = max(answers.count(answer) for answer in set(answers)) / len(answers)
    tour.say(f"Accuracy {quality['accuracy']:.4f}, AUC {quality['auc']:.4f} on {quality['rows']} visits that training did not see "
             f"(always the same answer: {majority:.4f}).")
    tour.say(f"The model costs ε ≤ {fit['epsilon']:.6g} at δ = {fit['delta']:g}, method {fit['method']}; its certificate was recomputed.")


STEPS = [questions, total, calibration, training]  # a step more is a function more


def main(sotto, out):
    tour = Tour(sotto, out)
    tour.say("# Sotto: a tour")
    tour.say()
    tour.say(f"demo/clinic.csv holds {len(tour.rows)} invented visits to a clinic. What may be published about them?")
    for step in STEPS:
        tour.say()
        step(tour)
    report = tour.out / "report.md"
    report.write_text("\n".join(tour.lines) + "\n", encoding="utf-8")
    print(f"\nWritten: {report} and beside it each answer, spent.json, dpsgd.json and the model with its certificate", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: demo/run.py SOTTO OUT")
    main(*sys.argv[1:])
