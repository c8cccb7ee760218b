#!/usr/bin/env python3
"""Runs transcripts of the command line: run_transcripts.py SOTTO FILE.test [FILE.test ...]

A transcript is what a user types and sees, and is documentation as much as a test:

    # Prose. An empty line ends a command.
    $ sotto noise --distribution laplace --scale 2 --count 1
    > (a line that begins with '> ' continues the command)
    a line of standard output, literally
    ~ a regular expression that the whole line must match ('~' alone: an empty line)
    ...                        any number of lines
    ! a line of standard error, literally
    !~ a regular expression for it
    !...                       any number of lines of standard error
    [3]                        the exit code; 0 when not given

Output that is not expected is a failure, on both streams. Commands run in bash, with pipefail, in one fresh directory
per transcript that holds copies of the files in data/. A line '@needs zsh' (a program's name, 'mounting',
or 'plain memory', which a program with sanitizers does not have: SOTTO_SANITIZED is set) before a command skips that command, visibly, where the need is not met; '@all need zsh' speaks of all commands that follow.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


class Step:
    def __init__(self, number, command, needs):
        self.number, self.command, self.needs = number, command, needs
        self.out, self.err, self.code = [], [], 0


def parse(path):
    steps, needs, always, open_step = [], [], [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("$ "):
            open_step = Step(number, line[2:], always + needs)
            needs = []
            steps.append(open_step)
        elif open_step is None:
            if line.startswith("@needs "):
                needs.append(line[7:].strip())
            elif line.startswith("@all need "):
                always.append(line[10:].strip())
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: prose begins with '#', a command with '$ '")
        elif not line:
            open_step = None
        elif line.startswith("> ") and not open_step.out and not open_step.err:
            open_step.command += "\n" + line[2:]
        elif re.fullmatch(r"\[\d+\]", line):
            open_step.code = int(line[1:-1])
        elif line.startswith("!"):
            rest = line[1:]
            open_step.err.append(rest[1:] if rest.startswith(" ") else rest)
        else:
            open_step.out.append(line)
    return steps


def line_matches(expected, line):
    if expected == "~":
        return line == ""
    if expected.startswith("~ "):
        return re.fullmatch(expected[2:], line) is not None
    return expected == line


def matches(expected, lines):
    """Whether the lines are what is expected; '...' stands for any number of them."""
    if not expected:
        return not lines
    if expected[0] == "...":
        return any(matches(expected[1:], lines[i:]) for i in range(len(lines) + 1))
    return bool(lines) and line_matches(expected[0], lines[0]) and matches(expected[1:], lines[1:])


def can_mount():
    """Whether this process may mount a small file system: root, and not in a container that forbids it."""
    with tempfile.TemporaryDirectory() as directory:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory], capture_output=True).returncode != 0:
            return False
        subprocess.run(["umount", directory], check=True)
        return True


def met(need, path):
    if need == "plain memory":
        return not os.environ.get("SOTTO_SANITIZED")
    return can_mount() if need == "mounting" else shutil.which(need, path=path) is not None


def run(step, directory, environment):
    """Empty when the step does what it says, else what differs."""
    done = subprocess.run(["bash", "-o", "pipefail", "-c", step.command], cwd=directory, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=2400)
    problems = []
    for name, expected, actual in (("output", step.out, done.stdout), ("error output", step.err, done.stderr)):
        lines = actual.decode("utf-8", "replace").splitlines()
        if not matches(expected, lines):
            problems += difflib.unified_diff(expected, lines, f"expected {name}", f"actual {name}", lineterm="", n=1)
    if done.returncode != step.code:
        problems.append(f"exit code {done.returncode}, expected {step.code}")
    return "\n".join(problems)


def main():
    sotto, transcripts = pathlib.Path(sys.argv[1]).resolve(), [pathlib.Path(p) for p in sys.argv[2:]]
    here = pathlib.Path(__file__).resolve().parent
    environment = {"PATH": f"{sotto.parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8",
                   "TERM": "dumb", "SOURCE": str(here.parent.parent)}
    failures = skipped = count = 0
    for path in transcripts:
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(here / "data", directory, dirs_exist_ok=True)
            for step in parse(path):
                missing = [need for need in step.needs if not met(need, environment["PATH"])]
                if missing:
                    print(f"{path.name}:{step.number}: skipped, needs {', '.join(missing)}")
                    skipped += 1
                    continue
                count += 1
                problem = run(step, directory, environment)
                if problem:
                    failures += 1
                    print(f"{path.name}:{step.number}: $ {step.command}\n{problem}\n")
    print(f"{count} commands, {failures} failures, {skipped} skipped")
    if count == 0 and skipped == 0:
        sys.exit("no commands found")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
