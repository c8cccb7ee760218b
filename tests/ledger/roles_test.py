#!/usr/bin/env python3
"""roles_test.py SOTTO: on a server, one role charges, one only reads, one may nothing, and a server that went back is noticed."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cluster

SPEC = '{"schema":1,"relation":"add_remove","events":[{"pure":{"epsilon":0.1}}]}'


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def attack(url, dataset, **bent):
    """Calls the server's function itself with a charge of which some members, or the spend, are bent; returns what the server says against it."""
    def ask(text):
        return subprocess.run([str(cluster.programs() / "psql"), "-At", url, "-c", text], capture_output=True, text=True, check=False)

    seq, previous, body = ask("SELECT seq, hash, body FROM sotto_entries ORDER BY seq DESC LIMIT 1").stdout.strip().split("|", 2)
    spend = bent.pop("spend", None)
    if spend is None:
        spend = ask(f"SELECT spend FROM sotto_spends WHERE dataset = '{dataset}'").stdout.strip()
    entry = {"kind": "charge", "key": f"attack {seq}", "part": "", "purpose": "", "by": "x", "events": [{"pure": {"epsilon": 0.1}}], "version": "0",
             "spends": digest(f"{digest('')} {digest(spend)}\n"), "previous": previous, "seq": int(seq) + 1, "time": json.loads(body)["time"], "dataset": dataset}
    text = json.dumps({**entry, **bent}, sort_keys=True, separators=(",", ":"))
    return ask(f"SELECT sotto_append({int(seq) + 1}, 'charge', '{dataset}', 'attack {seq}', NULL, $x${text}$x$, '{digest(text)}', '', $x${spend}$x$)").stderr


def main(sotto):
    if cluster.missing():
        print(f"SKIPPED: {cluster.missing()}")
        return
    with cluster.cluster() as (url, _), tempfile.TemporaryDirectory() as place:
        spec = pathlib.Path(place) / "tenth.json"
        spec.write_text(SPEC)

        def sql(text):
            subprocess.run([str(cluster.programs() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", url, "-c", text], check=True)

        def run(role, *words, code=0):
            store = url.replace("user=sotto", f"user={role}")
            done = subprocess.run([sotto, "ledger", *words, "--store", store], capture_output=True, text=True, check=False)
            assert done.returncode == code, (role, words, done)
            return done.stdout + done.stderr

        def charge(role, key, code=0):
            return run(role, "charge", "--dataset", "people", "--spec", str(spec), "--key", key, code=code)

        sql("CREATE ROLE pipeline LOGIN; CREATE ROLE auditor LOGIN; CREATE ROLE stranger LOGIN")
        run("sotto", "create", "--dataset", "people", "--epsilon", "1", "--delta", "1e-6")
        charge("pipeline", "too early", code=6)
        listed = run("sotto", "roles", "--charge", "pipeline", "--read", "auditor")
        assert "pipeline  may charge and read" in listed and "auditor   may read" in listed, listed
        assert "stranger" not in listed and "public" not in listed, listed

        charge("pipeline", "a")
        assert "0.1" in run("auditor", "show")
        run("auditor", "verify")
        assert "lacks a right" in charge("auditor", "b", code=6)
        run("stranger", "show", code=6)
        assert "permission denied" in run("pipeline", "create", "--dataset", "other", "--epsilon", "1", code=6)
        run("pipeline", "roles", "--charge", "stranger", code=6)

        listed = json.loads(run("auditor", "roles", "--json"))["roles"]
        assert {"name": "pipeline", "reads": True, "charges": True, "writes": False, "creates": False} in listed, listed
        run("sotto", "roles", "--revoke", "pipeline")
        charge("pipeline", "c", code=6)

        # The witness of this machine knows an entry that the server forgets.
        kept = run("sotto", "show", "--json")
        sql("CREATE TABLE copy AS SELECT * FROM sotto_spends")
        charge("sotto", "d")
        sql("DELETE FROM sotto_entries WHERE seq = 4; UPDATE sotto_spends s SET seq = c.seq, spend = c.spend FROM copy c")
        assert "lacks entry 4" in charge("sotto", "e", code=5)
        run("sotto", "verify", code=5)
        os.environ["SOTTO_WITNESS"] = ""  # who has seen nothing cannot know
        run("sotto", "verify")
        assert json.loads(run("sotto", "show", "--json"))["head"] == json.loads(kept)["head"]

        # What would stop a data set for everybody is refused; a release that the server takes and nobody reads stops neither charges nor the owner.
        run("sotto", "roles", "--charge", "pipeline")
        key = str(pathlib.Path(place) / "owner")
        subprocess.run([sotto, "key", "new", key], check=True, capture_output=True)
        run("sotto", "create", "--dataset", "owned", "--epsilon", "1", "--delta", "1e-6", "--owner-key", key + ".pub")
        run("sotto", "create", "--dataset", "tallied", "--epsilon", "1", "--delta", "1e-6", "--this-data-epsilon", "1")
        pipeline = url.replace("user=sotto", "user=pipeline")
        for events in ([], [1], [{}], [{"nope": 1}], [{"pure": {"epsilon": 0.1}, "gdp": {"mu": 1}}]):
            assert "events" in attack(pipeline, "owned", events=events), events
        stored = subprocess.run([str(cluster.programs() / "psql"), "-At", url, "-c", "SELECT spend FROM sotto_spends WHERE dataset = 'owned'"],
                                capture_output=True, text=True, check=True).stdout.strip()
        respelled = stored.replace('["', '["0', 1)  # the same number, of which clients state another digest
        assert respelled != stored
        for spend in ("garbage", "[]", "[1]", respelled):
            assert "a spend that is none" in attack(pipeline, "owned", spend=spend), spend
        for said in (5, {}, {"epsilon": 50, "delta": 0, "confidence": 1}):
            assert "no guarantee" in attack(pipeline, "tallied", this_data=said), said
        assert "ahead of the clock" in attack(pipeline, "owned", time=int(1000 * time.time()) + 20 * 60_000)
        assert attack(pipeline, "owned", events=[{"pure": {"epsilon": "much"}}]) == ""
        run("pipeline", "charge", "--dataset", "owned", "--spec", str(spec), "--key", "b")
        shown = run("auditor", "show", code=5)
        assert "owned     cannot be read" in shown and "people" in shown and "tallied" in shown, shown
        run("auditor", "show", "--dataset", "people")
        shown = run("auditor", "show", "--json", code=5).splitlines()[0]
        assert [d["name"] for d in json.loads(shown)["datasets"]] == ["people", "tallied"], shown
        assert [d["name"] for d in json.loads(shown)["unreadable"]] == ["owned"], shown
        assert "closed owned" in run("sotto", "close", "--dataset", "owned", "--reason", "abused", "--by", "carla", "--sign", key)
        run("pipeline", "charge", "--dataset", "owned", "--spec", str(spec), "--key", "c", code=4)
        charge("pipeline", "f")
        run("auditor", "verify", code=5)
    print("roles: ok")


if __name__ == "__main__":
    main(sys.argv[1])
