#!/usr/bin/env python3
"""Two machines on one PostgreSQL: machines_test.py SOTTO

Each machine is a network namespace with an address of its own, on a bridge with the server. Where that is not permitted, two groups of
processes on the loopback address stand for them, and the test says so. Sixteen processes race for the last of a budget: exactly
the affordable ones win, each machine sees what the other charged, and a machine that is cut off charges nothing.
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cluster

SOTTO = sys.argv[1]
RACERS, AFFORDABLE = 16, 7


def quiet(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def machines():
    """Yields the server's address and, for each machine, the words that make a command run on it; and how to cut one off."""
    mark = f"sotto{os.getpid() % 10000}"
    bridge, network = f"{mark}br", f"10.{os.getpid() % 200 + 20}.77"
    names = [f"{mark}a", f"{mark}b"]
    try:
        try:
            quiet("ip", "link", "add", bridge, "type", "bridge")
            quiet("ip", "addr", "add", f"{network}.1/24", "dev", bridge)
            quiet("ip", "link", "set", bridge, "up")
            for i, name in enumerate(names):
                quiet("ip", "netns", "add", name)
                quiet("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
                quiet("ip", "link", "set", name, "master", bridge, "up")
                quiet("ip", "-n", name, "addr", "add", f"{network}.{i + 2}/24", "dev", "eth0")
                quiet("ip", "-n", name, "link", "set", "eth0", "up")
            probe = subprocess.run(["ip", "netns", "exec", names[0], "true"], capture_output=True, check=False)
            if probe.returncode != 0:
                raise OSError(probe.stderr.decode())
        except (OSError, subprocess.CalledProcessError):
            print("no network namespaces here: two groups of processes on 127.0.0.1 stand for two machines")
            yield "127.0.0.1", [[], []], None
            return
        yield f"{network}.1", [["ip", "netns", "exec", name] for name in names], lambda: quiet("ip", "link", "set", names[1], "down")
    finally:
        for words in [["netns", "del", n] for n in names] + [["link", "del", n] for n in [*names, bridge]]:
            with contextlib.suppress(OSError):  # no such program
                subprocess.run(["ip", *words], capture_output=True, check=False)


def main():
    if cluster.missing():
        print(f"SKIPPED: {cluster.missing()}")
        return
    with tempfile.TemporaryDirectory() as place, machines() as (address, machine, cut), \
            cluster.cluster(network=address) as (_, port):
        store = f"postgresql://sotto@{address}:{port}/postgres?connect_timeout=3"
        spec = pathlib.Path(place) / "spec.json"
        spec.write_text('{"schema":1,"relation":"add_remove","events":[{"pure":{"epsilon":0.1}}]}')

        def words(which, *rest):
            return [*machine[which], SOTTO, "ledger", *rest, "--store", store]

        def charge(which, key):
            return words(which, "charge", "--dataset", "people", "--spec", str(spec), "--key", key, "--json")

        def answer(which, *rest):
            return subprocess.run(words(which, *rest), check=True, capture_output=True, text=True).stdout

        answer(0, "create", "--dataset", "people", "--epsilon", str(AFFORDABLE / 10))
        race = [subprocess.Popen(charge(n % 2, f"racer-{n}"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) for n in range(RACERS)]
        ends = [process.wait() for process in race]
        assert sorted(ends) == [0] * AFFORDABLE + [4] * (RACERS - AFFORDABLE), ends
        seen = [json.loads(answer(which, "show", "--json"))["datasets"][0] for which in (0, 1)]
        assert all(s["releases"] == AFFORDABLE and s["epsilon_spent"] == AFFORDABLE / 10 for s in seen), seen
        winners = [ends[n::2].count(0) for n in (0, 1)]
        # A key that one machine used is known on the other.
        known = ends.index(0)
        replayed = json.loads(subprocess.run(charge(1 - known % 2, f"racer-{known}"), check=True, capture_output=True).stdout)
        assert replayed["replayed"], replayed
        if cut:
            cut()
            lost = subprocess.run(charge(1, "cut off"), capture_output=True, check=False)
            assert lost.returncode == 6, lost
        answer(0, "verify")
        after = json.loads(answer(0, "show", "--json"))["datasets"][0]
        assert after["releases"] == AFFORDABLE, after
    print(f"{RACERS} processes on two machines: {winners[0]} + {winners[1]} won, {ends.count(4)} were refused"
          + ("; the machine that was cut off charged nothing" if cut else ""))


main()
