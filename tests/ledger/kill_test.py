#!/usr/bin/env python3
"""Random kill -9 of processes that charge and train: kill_test.py SOTTO [--kills N] [--store sqlite|postgres] [--networks]

How long an undisturbed process takes is measured first; then each is killed at a moment drawn uniformly from that whole life. After all
kills: no charge that a process reported is lost, no artifact exists without a committed charge, the cap is not exceeded, and
the ledger verifies. The last line says where in the life of a release the kills fell.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import random
import signal
import statistics
import subprocess
import tempfile
import time

import cluster

DATA = pathlib.Path(__file__).resolve().parent.parent / "cli" / "data"
COST = {"charge": 0.001, "linear": 0.005, "softmax": 0.05}  # of one release, by kind


class Life:
    """One ledger, the processes that charge it, and what they reported before they died."""

    def __init__(self, sotto, place, store, cap, networks):
        self.sotto, self.place, self.store = sotto, place, store
        self.spec = place / "spec.json"
        event = {"pure": {"epsilon": COST["charge"]}}
        self.spec.write_text(json.dumps({"schema": 1, "relation": "add_remove", "events": [event]}))
        self.run("ledger", "create", "--store", store, "--dataset", "people", "--epsilon", repr(cap),
                 *(["--delta", "1e-6"] if networks else []))
        self.reported = {}

    def run(self, *words):
        return subprocess.run([self.sotto, *words], check=True, capture_output=True, text=True).stdout

    def words(self, kind, key):
        if kind == "charge":
            return ["ledger", "charge", "--store", self.store, "--dataset", "people", "--spec", str(self.spec), "--key", key, "--json"]
        return ["train", "--data", str(DATA / "people.csv"), "--schema", str(DATA / "people.toml"), "--model", kind,
                *(["--target", "city", "--epochs", "1", "--delta", "1e-9"] if kind == "softmax" else []),
                "--epsilon", str(COST[kind]), "--out", str(self.place / key), "--ledger", self.store,
                "--dataset", "people", "--key", key, "--json"]

    def attempt(self, kind, key, seconds):
        """Starts one release and kills it after `seconds`, or lets it end when None. Returns the exit status."""
        process = subprocess.Popen([self.sotto, *self.words(kind, key)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if seconds is not None:
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        if out.endswith(b"}\n"):  # the receipt left the process: it counts, killed or not
            receipt = json.loads(out)
            self.reported[key] = receipt.get("entry") or receipt["ledger"]["entry"]
        return process.returncode

    def usual(self, kind):
        times = []
        for i in range(5):
            start = time.monotonic()
            status = self.attempt(kind, f"{kind}-undisturbed-{i}", None)
            assert status == 0, f"an undisturbed {kind} ends with {status}"
            times.append(time.monotonic() - start)
        return statistics.median(times)

    def check(self):
        self.run("ledger", "verify", "--store", self.store)
        shown = json.loads(self.run("ledger", "show", "--store", self.store, "--entries", "1000000", "--json"))["datasets"][0]
        releases = {r["key"]: r for r in shown["newest"]}
        for key, entry in self.reported.items():
            assert key in releases and releases[key]["entry"] == entry and releases[key]["state"] == "committed", f"lost: {key}"
        artifacts = {p.name for p in self.place.iterdir() if p.is_dir() and not p.name.startswith(".")}
        for name in artifacts:
            assert releases[name]["state"] == "committed", f"{name} was released without a charge"
            self.run("verify", str(self.place / name), "--ledger", self.store)
        assert shown["epsilon_spent"] <= shown["epsilon"], "the cap was exceeded"
        return shown, releases, artifacts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sotto")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--networks", action="store_true", help="also train networks, which is slow")
    options = parser.parse_args()
    if options.store == "postgres" and cluster.missing():
        print(f"SKIPPED: {cluster.missing()}")
        return
    chance = random.Random(2026)
    kinds = ["charge", "linear"] + (["softmax"] if options.networks else [])
    # Enough for the undisturbed runs, and tight enough that the rest meets the cap on the way.
    cap = sum(COST[k] for k in kinds) * (5 + options.kills * 0.5 / len(kinds))
    server = cluster.cluster() if options.store == "postgres" else contextlib.nullcontext([None, None])
    with tempfile.TemporaryDirectory() as place, server as (url, _):
        store = url or str(pathlib.Path(place) / "budget.db")
        life = Life(options.sotto, pathlib.Path(place), store, cap, options.networks)
        usual = {kind: life.usual(kind) for kind in kinds}
        ends, attempts = collections.Counter(), {}
        while ends["killed"] < options.kills and ends["refused"] < options.kills:
            kind = chance.choice(kinds)
            key = f"{kind}-{len(attempts)}"
            attempts[key] = life.attempt(kind, key, chance.random() * usual[kind])
            assert attempts[key] in (0, 4, -signal.SIGKILL), f"{key} ended with {attempts[key]}"
            ends[{0: "ended before", 4: "refused"}.get(attempts[key], "killed")] += 1
        shown, releases, artifacts = life.check()
    where = collections.Counter()
    for key, status in attempts.items():
        if status != -signal.SIGKILL:
            continue
        state = releases[key]["state"] if key in releases else "nothing"
        where[f"{key.split('-')[0]}: {state}{' and artifact' if key in artifacts else ''}"] += 1
    print(f"{options.store}: {dict(ends)}; {len(life.reported)} reported charges all there, {len(artifacts)} models all paid for, "
          f"spent {shown['epsilon_spent']:.4g} of {shown['epsilon']:.4g}; lives of "
          + ", ".join(f"{k} {1000 * s:.0f} ms" for k, s in usual.items()))
    print("where the kills fell:", ", ".join(f"{k} {n}" for k, n in sorted(where.items())))


main()
