#!/usr/bin/env python3
"""Random kill -9 of processes that charge and train: kill_test.py SOTTO [KILLS] [STORE]

Three promises are checked after all kills: no charge that a process reported is lost, no artifact exists without a committed
charge, and the cap is never exceeded. STORE may be a postgresql:// URL; by default it is a new SQLite file.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sotto, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
data = pathlib.Path(__file__).resolve().parent.parent / "cli" / "data"
chance = random.Random(2026)


def run(*words, check=True):
    return subprocess.run([sotto, *words], check=check, capture_output=True, text=True)


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    store = sys.argv[3] if len(sys.argv) > 3 else str(place / "budget.db")
    spec = place / "spec.json"
    spec.write_text('{"schema":1,"relation":"add_remove","events":[{"pure":{"epsilon":0.001}}]}')
    cap = max(0.02, kills * 0.0006)  # tight enough that the cap is met on the way
    run("ledger", "create", "--store", store, "--dataset", "people", "--epsilon", repr(cap), "--delta", "1e-6")

    def charge(n):
        return ["ledger", "charge", "--store", store, "--dataset", "people", "--spec", str(spec), "--key", f"c{n}", "--json"]

    def train(n):
        return ["train", "--data", str(data / "people.csv"), "--schema", str(data / "people.toml"), "--model", "linear",
                "--epsilon", "0.005", "--delta", "1e-9", "--out", str(place / f"model{n}"), "--ledger", store,
                "--dataset", "people", "--key", f"t{n}", "--json"]

    def seconds(words):  # how long one takes here, so that kills fall inside
        start = time.monotonic()
        run(*words)
        return time.monotonic() - start

    usual = {charge: seconds(charge("warm")), train: seconds(train("warm"))}
    reported, killed, refused = {}, 0, 0
    n = 0
    while killed < kills:
        n += 1
        kind = chance.choice([charge, train])
        process = subprocess.Popen([sotto, *kind(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(chance.random() * 1.6 * usual[kind])
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        if process.returncode == -signal.SIGKILL:
            killed += 1
        if process.returncode == 4:
            refused += 1
        if out.endswith(b"}\n"):  # the receipt left the process: it counts, killed or not
            receipt = json.loads(out)
            reported[("c" if kind is charge else "t") + str(n)] = receipt.get("entry") or receipt["ledger"]["entry"]
        if refused > kills:
            break

    verified = run("ledger", "verify", "--store", store, check=False)
    assert verified.returncode == 0, verified.stderr
    shown = json.loads(run("ledger", "show", "--store", store, "--entries", "1000000", "--json").stdout)["datasets"][0]
    releases = {r["key"]: r for r in shown["newest"]}
    for key, entry in reported.items():
        assert key in releases and releases[key]["entry"] == entry and releases[key]["state"] == "committed", f"lost: {key}"
    artifacts = [p.name[5:] for p in place.glob("model*") if (p / "certificate.json").exists()]
    for name in artifacts:
        assert releases[f"t{name}"]["state"] == "committed", f"model{name} was released without a charge"
    assert shown["epsilon_spent"] <= shown["epsilon"], "the cap was exceeded"
    halves = [p.name for p in place.glob("model*") if not (p / "certificate.json").exists()]
    assert not halves, f"half-written artifacts: {halves}"
    states = [r["state"] for r in releases.values()]
    print(f"{killed} kills in {n} runs ({refused} refused): {len(reported)} reported charges all there, {len(artifacts)} models all "
          f"paid for, {states.count('reserved')} reservations stayed spent, spent {shown['epsilon_spent']:.4g} of {shown['epsilon']:.4g}")
