#!/usr/bin/env python3
"""roles_test.py SOTTO: on a server, one role charges, one only reads, one may nothing, and a server that went back is noticed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cluster

SPEC = '{"schema":1,"relation":"add_remove","events":[{"pure":{"epsilon":0.1}}]}'


def main(sotto):
    if cluster.programs() is None:
        print("SKIPPED: no PostgreSQL server to start")
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
    print("roles: ok")


if __name__ == "__main__":
    main(sys.argv[1])
