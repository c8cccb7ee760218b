#!/usr/bin/env python3
"""Lines of sources end by column 100, comments too: check_columns.py [ROOT]

clang-format breaks code but leaves comments alone. Raw strings (JSON in tests) may be longer: a break would change them.
"""
import re
import sys

import tree

LIMIT = 100
OPENS = re.compile(r'R"(\w*)\(')


def long_lines(text):
    """Numbers of lines that are too long, raw strings aside."""
    closing = None
    for number, line in enumerate(text.split("\n"), 1):
        raw, position = closing is not None, 0
        while True:
            if closing is not None:
                end = line.find(closing, position)
                if end < 0:
                    break
                position, closing = end + len(closing), None
            start = OPENS.search(line, position)
            if not start:
                break
            raw, closing, position = True, f'){start.group(1)}"', start.end()
        if len(line) > LIMIT and not raw:
            yield number


def check(root):
    return [f"{path}:{number}: longer than {LIMIT} columns"
            for path in tree.files(root, ".hpp", ".cpp") for number in long_lines(tree.read(root, path) or "")]


if __name__ == "__main__":
    sys.exit(tree.report(check(sys.argv[1] if len(sys.argv) > 1 else "."), "columns"))
