#!/usr/bin/env python3
"""Other libraries on the same rows: peers.py ADULT CHECKOUTS [RUNS]

Trains diffprivlib (folder CHECKOUTS/diffprivlib) and Opacus (CHECKOUTS/opacus, with CHECKOUTS/opt_einsum where that is not installed) on the
census table Adult as results.py prepares it, at ε = 1, RUNS times (5), and prints the table of results.py. Needs Debian's python3-sklearn,
for which 0.6.4 is the newest diffprivlib that fits, and for Opacus python3-torch, for which version 1.3 is. What is not found is said.

Both get the same public facts as Sotto: bounds, categories, number of rows. Numbers are scaled to [0, 1] and categories are indicators.
diffprivlib runs with its defaults; its trees have depth 4. Its logistic regression gets rows of norm at most one, because for longer rows it
adds less noise than its own proof asks for. Opacus has no defaults: batch 1024, 20 epochs, clipping at 1 and the learning rate that was best
of 0.1, 0.3, 1 and 3 on a fifth of the training rows, chosen without any privacy cost.
"""
import csv
import pathlib
import resource
import statistics
import sys
import tempfile
import warnings

import numpy as np

import results

EPSILON, DELTA = 1.0, 1e-5


def encoded(path, categories):
    """Rows in the unit cube, and whether the income is the higher one."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for name in rows[0]:
        cells = [row[name] for row in rows]
        if name in results.BOUNDS:
            lower, upper = results.BOUNDS[name]
            columns.append((np.clip(np.array(cells, float), lower, upper) - lower) / (upper - lower))
        elif name != "income":
            columns += [np.array([cell == value for cell in cells], float) for value in categories[name]]
    return np.stack(columns, 1), np.array([row["income"] == ">50K" for row in rows], int)


def area(truth, score):
    """The area under the curve, by ranks; ties count half."""
    values, group, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[group]
    ones = truth.sum()
    return (rank[truth == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(truth) - ones))


def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(fit, train, test, runs):
    figures = []
    for run in range(runs):
        before = seconds()
        score = fit(*train, run)
        taken = seconds() - before
        chance = score(test[0])
        figures.append((np.mean((chance > 0.5) == test[1]), area(test[1], chance), taken))
    return [statistics.fmean(column) for column in zip(*figures)]


def diffprivlib_models(width, originals):
    import diffprivlib
    import sklearn
    from diffprivlib import models
    # From 0.6.5 on the noise of its logistic regression is scaled for the mean loss of scikit-learn 1.4; before that the loss is a sum.
    older = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 4)
    if older and tuple(map(int, diffprivlib.__version__.split("."))) >= (0, 6, 5):
        raise ImportError(f"with scikit-learn {sklearn.__version__} version {diffprivlib.__version__} adds almost no noise; take 0.6.4")
    box = (np.zeros(width), np.ones(width))
    kinds = {
        "logistic regression": lambda: models.LogisticRegression(epsilon=EPSILON, data_norm=1.0),
        "naive Bayes": lambda: models.GaussianNB(epsilon=EPSILON, bounds=box),
        "tree": lambda: models.DecisionTreeClassifier(epsilon=EPSILON, max_depth=4, bounds=box, classes=[0, 1]),
        "forest": lambda: models.RandomForestClassifier(epsilon=EPSILON, bounds=box, classes=[0, 1]),
    }

    def fitter(make, scale):
        def fit(x, y, _):
            model = make().fit(x * scale, y)
            return lambda rows: np.asarray(model.predict_proba(rows * scale))[:, 1]
        return fit
    return {f"diffprivlib, {name}": (0, fitter(make, originals ** -0.5 if name == "logistic regression" else 1.0))
            for name, make in kinds.items()}


def opacus_models(width):
    import torch
    from opacus import PrivacyEngine

    def train(network, x, y, rate):
        data = torch.utils.data.TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
        model, optimiser, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
            module=network, optimizer=torch.optim.SGD(network.parameters(), lr=rate),
            data_loader=torch.utils.data.DataLoader(data, batch_size=1024, shuffle=True),
            target_epsilon=EPSILON, target_delta=DELTA, epochs=20, max_grad_norm=1.0)
        for _ in range(20):
            for rows, truth in loader:
                if len(rows) == 0:
                    continue
                optimiser.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(model(rows)[:, 0], truth).backward()
                optimiser.step()
        return lambda rows: torch.sigmoid(network(torch.tensor(rows, dtype=torch.float32))[:, 0]).detach().numpy()

    def fitter(make):
        chosen = {}

        def fit(x, y, run):
            torch.manual_seed(run)
            return train(make(), x, y, chosen["rate"])

        def choose(x, y):
            held = len(x) // 5
            def right(rate):
                return np.mean((train(make(), x[held:], y[held:], rate)(x[:held]) > 0.5) == y[:held])
            chosen["rate"] = max((0.1, 0.3, 1.0, 3.0), key=right)
        fit.choose = choose
        return fit
    linear = torch.nn.Linear
    return {"Opacus, logistic regression": (DELTA, fitter(lambda: linear(width, 1))),
            "Opacus, network of 64": (DELTA, fitter(
                lambda: torch.nn.Sequential(linear(width, 64), torch.nn.ReLU(), linear(64, 1))))}


def main(adult, checkouts, runs="5"):
    warnings.simplefilter("ignore")
    for name in ("diffprivlib", "opacus", "opt_einsum"):
        sys.path.append(str(pathlib.Path(checkouts) / name))
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        results.prepare(pathlib.Path(adult), folder)
        categories = results.categories(pathlib.Path(adult))
        train, test = (encoded(folder / name, categories) for name in ("train.csv", "test.csv"))
    width = train[0].shape[1]
    models = {}
    for name, make in (("diffprivlib", lambda: diffprivlib_models(width, len(categories))), ("Opacus", lambda: opacus_models(width))):
        try:
            models |= make()
        except ImportError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)
    print("| model | ε | δ | accuracy | AUC | processor time |\n|---|---|---|---|---|---|")
    for name, (delta, fit) in models.items():
        if hasattr(fit, "choose"):
            fit.choose(*train)
        accuracy, auc, taken = measure(fit, train, test, int(runs))
        print(f"| {name} | 1 | {delta:g} | {accuracy:.4f} | {auc:.3f} | {taken:.2f} s |".replace("1e-05", "1e-5"), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
