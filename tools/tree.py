"""Which files the checkers look at."""
import os
import pathlib
import subprocess

SKIP_FOLDERS = {"build", "demo-out", "__pycache__"}


def files(root, *suffixes):
    """Paths under root, relative and sorted: what git tracks or would track, or all files where there is no repository."""
    root = pathlib.Path(root)
    found = _from_git(root) if (root / ".git").exists() else None
    if found is None:
        found = _from_disk(root)
    return sorted(p for p in found if (not suffixes or p.name.endswith(suffixes)) and (root / p).is_file())


def read(root, path):
    """The text of a file, or None when it is binary."""
    try:
        return (pathlib.Path(root) / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def _from_git(root):
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=root, capture_output=True, text=True)
    if listing.returncode != 0:
        return None
    return {pathlib.Path(name) for name in listing.stdout.split("\0") if name}


def _from_disk(root):
    found = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIP_FOLDERS and f != ".git" and not f.startswith("build-")]
        found.update(pathlib.Path(folder, name).relative_to(root) for name in names)
    return found


def report(problems, what):
    """Prints the problems, one a line, and gives the exit code."""
    for problem in problems:
        print(problem)
    print(f"{what}: {len(problems)} problem(s)" if problems else f"{what}: fine")
    return 1 if problems else 0
