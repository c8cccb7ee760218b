#!/usr/bin/env python3
"""Runs what a document tells its reader to type: run_tutorial.py SOTTO [--update] DOCUMENT.md …

Blocks fenced as ```console hold commands ('$ ' first, '> ' continues) and what they print. All blocks of a document run
in order in one fresh directory with the files of demo/. A command must succeed and print what the document
shows, numbers and fingerprints aside: noise differs from run to run. '...' stands for any number of lines. A command
that is shown to fail ends with a line '[4]', its exit code. --update writes the output of this run into the document.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from run_transcripts import matches

VARIES = re.compile(r"\b[0-9a-f]{8,}\b|[-+−]?\d[\d.,]*(?:e[-+]?\d+)?|\binf\b")
EXIT_CODE = re.compile(r"\[(\d+)\]")


def shape(line):
    """What stays the same from run to run: numbers become one sign, and columns may move."""
    return re.sub(r"\s+", " ", VARIES.sub("#", line)).strip()


class Step:
    def __init__(self, number, first):
        self.number, self.typed, self.shown, self.code = number, [first], [], 0

    @property
    def command(self):
        return "\n".join(line[2:] for line in self.typed)


def parse(lines):
    """The document as pieces: lines of prose, and steps."""
    pieces, inside, step = [], False, None
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            inside, step = line.strip() == "```console", None
            pieces.append(line)
        elif inside and line.startswith("$ "):
            step = Step(number, line)
            pieces.append(step)
        elif step is None:
            pieces.append(line)
        elif line.startswith("> ") and not step.shown:
            step.typed.append(line)
        elif EXIT_CODE.fullmatch(line):
            step.code = int(line[1:-1])
        else:
            step.shown.append(line)
    return pieces


def run(step, directory, environment):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", step.command], cwd=directory, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=280)
    return done.returncode, done.stdout.decode("utf-8", "replace").splitlines()


def updated(step, printed):
    """The lines of the document: short outputs whole, long ones as far as they were shown before."""
    if "..." in step.shown:
        kept = step.shown.index("...")
        tail = len(step.shown) - kept - 1
        printed = printed[:kept] + ["..."] + (printed[-tail:] if tail else [])
    return step.typed + printed + ([f"[{step.code}]"] if step.code else [])


def check(path, sotto, update):
    source = pathlib.Path(__file__).resolve().parent.parent.parent
    environment = {"PATH": f"{sotto.parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    pieces, count, failures, written = parse(path.read_text(encoding="utf-8").splitlines()), 0, 0, []
    with tempfile.TemporaryDirectory() as directory:
        for name in ("clinic.csv", "clinic.toml"):
            shutil.copy(source / "demo" / name, directory)
        for piece in pieces:
            if isinstance(piece, str):
                written.append(piece)
                continue
            count += 1
            code, printed = run(piece, directory, environment)
            if code != piece.code or not (update or matches([shape(line) if line != "..." else line for line in piece.shown], [shape(line) for line in printed])):
                failures += 1
                print(f"{path.name}:{piece.number}: $ {piece.command}\nexit code {code}, expected {piece.code}; printed:")
                print("\n".join(printed) + "\n")
            written += updated(piece, printed)
    if update and not failures:
        path.write_text("\n".join(written) + "\n", encoding="utf-8")
    print(f"{path.name}: {count} commands, {failures} failures")
    return failures == 0 and count > 0


def main():
    update = "--update" in sys.argv
    sotto, *documents = [word for word in sys.argv[1:] if word != "--update"]
    results = [check(pathlib.Path(document), pathlib.Path(sotto).resolve(), update) for document in documents]
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
