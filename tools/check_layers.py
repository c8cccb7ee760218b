#!/usr/bin/env python3
"""Includes go down only: check_layers.py [ROOT]

A module may include its own headers and those of the levels below. Modules of one level do not know each other unless
the pair is listed. Include paths cannot enforce this (every module has the same root), so this script does.
"""
import re
import sys

import tree

LEVELS = [
    {"core"},
    {"noise"},
    {"mechanisms", "accounting", "data", "features"},
    {"learning"},
    {"models", "deep", "pate", "local", "federated", "audit", "ledger"},
    {"report"},
    {"apps", "apps_deep", "python"},
]
SAME_LEVEL = set()  # pairs (module, may include)

# Parts of a module that are embedded elsewhere and see less than the rest of it: folder → what it may include.
PARTS = {("local", "client"): ("sotto/core/", "sotto/noise/", "sotto/local/client/")}

# Third-party headers that only some modules may see: they are heavy, optional or would leak into the public interface.
ONLY_IN = {
    r"torch/|ATen/|c10/": {"deep", "apps_deep", "python"},
    r"CLI/": {"apps"},
    r"zlib\.h": {"data"},
    r"kiss_?fft": {"accounting"},
    r"sqlite3\.h": {"data", "ledger", "local"},
    r"libpq": {"data", "ledger"},
    r"mpi\.h": {"federated"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
LEVEL = {module: number for number, modules in enumerate(LEVELS) for module in modules}


def module_of(path):
    """The module a file belongs to, or None when the rule does not speak of it (benchmarks, tests across modules)."""
    parts = path.parts
    if parts[:2] == ("src", "sotto") and len(parts) > 3:
        return parts[2]
    if parts[:2] == ("apps", "sotto-deep"):
        return "apps_deep"  # the half of the command that links LibTorch
    return parts[0] if parts[0] in ("apps", "python") else None


def problem(path, quote, header):
    """Why the include is wrong, or None."""
    module, is_test = module_of(path), path.stem.endswith("_test")
    for pattern, allowed in ONLY_IN.items():
        if re.match(pattern, header) and module not in allowed and not is_test:
            return f"only {', '.join(sorted(allowed))} may include <{header}>"
    target = re.match(r"sotto/(\w+)/", header)
    if not target:
        if quote == '"' and path.parts[0] == "src" and not is_test:
            return f'write "{header}" from the root, as "sotto/{module}/…"'
        return None
    other = target.group(1)
    seen = PARTS.get(path.parts[2:4]) if path.parts[:2] == ("src", "sotto") else None
    if seen and not header.startswith(seen) and not is_test:
        return f"{'/'.join(path.parts[2:4])} may include only {', '.join(seen)}"
    if "/detail/" in header:
        if other != module:
            return f"{header} is {other}'s own: move it out of detail/ or ask {other} for what is needed"
        if path.suffix == ".hpp" and "detail" not in path.parts and not is_test:
            return f"an installed header may not include {header}, which is not installed"
    if other not in LEVEL:
        return f"{other} is not in the table of layers"
    if other == module or LEVEL[other] < LEVEL[module]:
        return None
    # A test may look sideways, at a second opinion from a neighbour, never up.
    if LEVEL[other] == LEVEL[module] and (is_test or (module, other) in SAME_LEVEL):
        return None
    return f"{module} may not include {other}"


def check(root):
    problems = []
    for path in tree.files(root, ".hpp", ".cpp", ".h", ".ipp"):
        module = module_of(path)
        if module is None:
            continue
        if module not in LEVEL:
            problems.append(f"{path}: {module} is not in the table of layers")
            continue
        text = tree.read(root, path) or ""
        for match in INCLUDE.finditer(text):
            reason = problem(path, match.group(1), match.group(2))
            if reason:
                line = text.count("\n", 0, match.start(2)) + 1
                problems.append(f"{path}:{line}: {reason}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(sys.argv[1] if len(sys.argv) > 1 else "."), "layers"))
