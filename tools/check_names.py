#!/usr/bin/env python3
"""One type, one name: check_names.py [ROOT]

Two types with the same name in the same namespace are one type to the linker: their copies, destructors and inline
members are mixed up without a word, wherever both happen to be in one program. So no two files may define one.
Types of an unnamed namespace are free. The script relies on clang-format: namespaces are not indented, and a type
at the scope of a namespace starts its line.
"""
import re
import sys

import tree

NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{")
END = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|union|enum(?: class)?) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: ?:[^:;].*)? ?(\{|$)")


def types(text):
    """Pairs (qualified name, line) of the types that a file defines outside unnamed namespaces."""
    scopes = []
    for number, line in enumerate(text.split("\n"), 1):
        opened = NAMESPACE.match(line)
        if opened and "}" not in line:
            scopes.append(opened.group(1))
        elif END.match(line):
            scopes.pop()
        else:
            found = TYPE.match(line)
            if found and all(scopes):
                yield "::".join([*scopes, found.group(1)]), number


def check(root):
    places = {}
    for path in tree.files(root, ".hpp", ".cpp"):
        if path.parts[0] not in ("src", "apps", "tests"):
            continue
        for name, line in types(tree.read(root, path) or ""):
            places.setdefault(name, []).append(f"{path}:{line}")
    return [f"{where[-1]}: {name} is also defined at {where[0]}" for name, where in sorted(places.items()) if len(where) > 1]


if __name__ == "__main__":
    sys.exit(tree.report(check(sys.argv[1] if len(sys.argv) > 1 else "."), "names"))
