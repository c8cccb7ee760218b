#!/usr/bin/env python3
"""Words that do not belong into the repository: check_words.py [ROOT]

Paths of somebody's machine, unfinished work marked by a word instead of being done or filed, host names of package
registries (packages are named, where they come from is the machine's business).
The patterns are written so that they do not match themselves.
"""
import re
import sys

import tree

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.:/~-])/(?:wor[k]|hom[e]|roo[t]|User[s])/\w"),
    "a marker of unfinished work": re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b"),
    "a registry host": re.compile(
        r"\b(?:deb\.debian|snapshot\.debian|security\.debian|pypi|pythonhosted|registry\.npmjs|registry\.yarnpkg"
        r"|crates|conan)\.(?:or[g]|i[o]|co[m])\b"),
}


def check(root):
    problems = []
    for path in tree.files(root):
        text = tree.read(root, path)
        if text is None:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for what, pattern in FORBIDDEN.items():
                match = pattern.search(line)
                if match:
                    problems.append(f"{path}:{number}: {what}: {match.group(0)}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(sys.argv[1] if len(sys.argv) > 1 else "."), "words"))
