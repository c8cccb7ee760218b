#!/usr/bin/env python3
"""A sample of changed bytes, through the command line: tamper_test.py SOTTO [CHANGES]

Bytes of a store are looked for by `ledger verify`, bytes of a signed model by `verify`; each change must end in exit code 5 or 6. That
every byte is covered is tested in process (sotto_ledger_test, sotto_tabular_test); this is what somebody sees who types the commands.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

SOTTO, CHANGES = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12
DATA = pathlib.Path(__file__).resolve().parent.parent / "cli" / "data"
chance = random.Random(2026)


def status(*words):
    return subprocess.run([SOTTO, *map(str, words)], capture_output=True, check=False).returncode


def main():
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        store, model, key = place / "budget.db", place / "model", place / "signing.pem"
        assert status("key", "new", key) == 0
        assert status("ledger", "create", "--store", store, "--dataset", "people", "--epsilon", "2", "--delta", "1e-5") == 0
        assert status("train", "--data", DATA / "people.csv", "--schema", DATA / "people.toml", "--model", "linear", "--epsilon", "1",
                      "--delta", "1e-6", "--ledger", store, "--dataset", "people", "--sign", key, "--out", model) == 0
        checks = {store: ("ledger", "verify", "--store", store), place / "budget.db-head": ("ledger", "verify", "--store", store)}
        checks.update({file: ("verify", model, "--signed-by", f"{key}.pub", "--ledger", store) for file in model.iterdir()})
        for file, words in checks.items():
            assert status(*words) == 0, words
            whole = file.read_bytes()
            for at in chance.sample(range(len(whole)), min(CHANGES, len(whole))):
                changed = bytearray(whole)
                changed[at] ^= 1 << chance.randrange(8)
                file.write_bytes(changed)
                ended = status(*words)
                assert ended in (5, 6), f"byte {at} of {file.name} was changed, and {' '.join(map(str, words))} ends with {ended}"
            file.write_bytes(whole)
            assert status(*words) == 0, words
        print(f"{CHANGES} changes in each of {', '.join(sorted(f.name for f in checks))}: all detected")


main()
