#!/usr/bin/env python3
"""query_test.py SOTTO DATA: records that are in PostgreSQL, read by a query in a read-only transaction."""
import pathlib
import subprocess
import sys

import cluster


def main(sotto, data):
    if cluster.missing():
        print(f"SKIPPED: {cluster.missing()}")
        return
    with cluster.cluster() as (url, _):

        def sql(*words):
            command = [str(cluster.programs() / "psql"), "-q", "-At", "-v", "ON_ERROR_STOP=1", url, *words]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        def run(*words, code=0):
            done = subprocess.run([sotto, *words], capture_output=True, text=True, check=False)
            assert done.returncode == code, (words, done)
            return done.stdout if code == 0 else done.stderr

        def ask(query, code=0, column="income"):
            return run("release", "sum", "--data", url, "--query", query, "--column", column, "--lower", "0", "--upper",
                       "150000", "--epsilon", "1", "--insecure-seed", "7", "--quiet", code=code)

        sql("-c", "CREATE TABLE people (name text, age integer, income float8, city text)",
            "-c", f"\\copy people from '{data / 'people.csv'}' csv header")
        from_file = run("release", "sum", "--data", str(data / "people.csv"), "--column", "income", "--lower", "0", "--upper",
                        "150000", "--epsilon", "1", "--insecure-seed", "7", "--quiet")
        assert ask("select * from people -- all of them") == from_file

        # One statement that reads, and nothing after it.
        for query in ("delete from people", "with gone as (delete from people returning *) select * from gone",
                      "select * from people; delete from people", "select 1) to program 'touch /tmp/x' --",
                      "select * from people) to stdout; delete from people; copy (select 1"):
            assert "refuses the query" in ask(query, code=3), query
        assert sql("-c", "select count(*) from people").strip() == "2000"
        assert 'relation "peple" does not exist' in ask("select * from peple", code=3)

        # What fails among the rows tells nothing of them: the server would quote the cell.
        told = ask("select income, name::integer from people", code=3)
        assert "22P02" in told and "Nino" not in told, told

        # Users are bounded over the very rows that are used, in whatever order they come.
        sql("-c", "CREATE TABLE visits AS SELECT (i % 10)::text AS who, (i * 7 % 100) / 100.0 AS x FROM generate_series(0, 99) i")
        told = run("release", "count", "--data", url.replace("postgresql", "postgres"), "--query", "select * from visits", "--epsilon", "20", "--quiet")
        assert abs(float(told) - 100) < 10, told
        assert "is a database" in run("release", "count", "--data", url, "--epsilon", "1", code=3)
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
