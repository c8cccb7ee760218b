#!/usr/bin/env python3
"""clang-tidy by the rules of .clang-tidy: lint.py BUILD [FILE…]; all sources of ours but tests without FILE.

Looks at files in the units in which they are compiled together: most of the time goes into the headers of libraries,
which a unit reads once, so that a whole run takes half an hour of processor time instead of hours. JOBS units at a time (2).
Tests are left to the compiler's warnings and to the sanitizers: clang 14 refuses what C++20 allows in many of them. So
is what includes LibTorch (the preset builds without it): clang 14 cannot read its headers.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = [ROOT / "src", ROOT / "apps"]
NOISE = re.compile(r"^(\d+ warnings? .*generated\.|Suppressed .*|Use -header-filter=.*|\d+ warnings? treated as errors?)$")


def sources_of(unit):
    """The files of ours that a unit holds: itself, or what a unity file includes."""
    if unit.suffix == ".cxx" and "Unity" in unit.parts:
        return [pathlib.Path(name) for name in re.findall(r'#include "(.*)"', unit.read_text())]
    return [unit]


def units_of(build):
    """Each unit once, with its sources; units without sources of ours (headers alone, examples) are left out."""
    units = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(command["file"])
        ours = [s for s in sources_of(unit)
                if s.suffix == ".cpp" and not s.name.endswith("_test.cpp") and any(o in s.parents for o in OURS)]
        if ours:
            units[unit] = ours
    return units


def findings(build, unit):
    # A unit that is compiled from several files includes them, which is the point of it.
    run = subprocess.run(["clang-tidy", "--quiet", "-p", build, "--checks=-bugprone-suspicious-include", unit],
                         capture_output=True, text=True)
    text = "\n".join(line for line in (run.stdout + run.stderr).splitlines() if not NOISE.match(line))
    return run.returncode, text.strip()


def main():
    build, *wanted = sys.argv[1:]
    units = units_of(pathlib.Path(build).resolve())
    if wanted:
        files = {pathlib.Path(name).resolve() for name in wanted}
        missing = files - {source for sources in units.values() for source in sources}
        if missing:
            sys.exit(f"lint: {', '.join(sorted(map(str, missing)))}: not compiled by {build}")
        units = {unit: sources for unit, sources in units.items() if files & set(sources)}
    seen, failed = set(), 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", 2))) as pool:
        for code, text in pool.map(lambda unit: findings(build, unit), units):
            failed += code != 0
            if text and text not in seen:
                seen.add(text)
                print(text, flush=True)
    files = {source for sources in units.values() for source in sources}
    if failed:
        sys.exit(f"lint: {failed} of {len(units)} units ({len(files)} files) have findings")
    print(f"lint: {len(files)} files are fine")


if __name__ == "__main__":
    main()
