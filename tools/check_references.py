#!/usr/bin/env python3
"""The mathematics beside the code is complete: check_references.py [ROOT]

1. Every key cited as [CKS20] or [CKS20, Alg. 3] in a comment or document is an entry of docs/references.bib.
2. Every entry there has author, title and year, and no key stands twice.
3. Every public header of the modules below opens with What (or a first line that says it), Guarantee, Method, Numerics, Reference.
   Exempt: headers of tests, in a detail/ folder, whose first line starts with "// Detail:", and those listed here.
4. Every document named as docs/….md in a source or linked from a document exists, and docs/index.md links every document.
"""
import pathlib
import posixpath
import re
import sys

import tree

MODULES = {"noise", "mechanisms", "accounting", "models", "pate", "local", "audit"}
PARTS = ["What", "Guarantee", "Method", "Numerics", "Reference"]
EXEMPT = {  # data types and helpers that claim nothing by themselves
    "accounting/bound.hpp", "accounting/composition/run_length.hpp", "accounting/pld/moments.hpp",
    "accounting/pld/noise_laws.hpp", "accounting/pld/piece.hpp", "mechanisms/noise_info.hpp",
    "models/linear/linear_model.hpp", "models/linear/linear_route.hpp",
    "noise/fixed_interval.hpp",
}

KEY = re.compile(r"[A-Z][A-Za-z]*\d{2,}(?:-\w+)?[a-z]?")
BRACKET = re.compile(r"\[([^\[\]\n]+)\]")
DOCUMENT = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
ENTRY = re.compile(r"^@(\w+)\s*\{\s*([^,\s]+)\s*,(.*?)(?=^@|\Z)", re.MULTILINE | re.DOTALL)


def keys_in(text):
    """Cited keys with their line numbers. A bracket is a citation when it starts with a key."""
    for match in BRACKET.finditer(text):
        tokens = [token.strip() for token in re.split(r"[,;]", match.group(1))]
        if KEY.fullmatch(tokens[0]):
            line = text.count("\n", 0, match.start()) + 1
            yield from ((line, token) for token in tokens if KEY.fullmatch(token))


def comments_only(text):
    """The text with everything but // comments blanked, so that line numbers stay."""
    return "\n".join(line[line.find("//"):] if "//" in line else "" for line in text.split("\n"))


def dead_documents(root, path, text):
    """Documents that the text names or links but that are not there."""
    named = set(DOCUMENT.findall(text))
    if path.suffix == ".md":
        named |= {posixpath.normpath(posixpath.join(path.parent.as_posix(), link)) for link in LINK.findall(text)}
    return sorted(name for name in named if not (pathlib.Path(root) / name).exists())


def missing_parts(text):
    lines = text.split("\n")
    opening = []
    for line in lines:
        if not line.startswith("//"):
            break
        opening.append(line)
    if opening and opening[0].startswith("// Detail:"):
        return []
    missing = [part for part in PARTS if not any(re.match(rf"// {part}\b", line) for line in opening)]
    if opening and re.match(r"// \w.{20}", opening[0]) and opening[0].endswith("."):
        missing = [part for part in missing if part != "What"]  # the first line is a sentence that says it
    return missing


def bibliography(root):
    """The set of keys and the problems of docs/references.bib itself."""
    text = tree.read(root, "docs/references.bib")
    keys, problems = set(), []
    for match in ENTRY.finditer(text):
        key, body = match.group(2), match.group(3)
        if key in keys:
            problems.append(f"docs/references.bib: {key} stands twice")
        keys.add(key)
        for field in ("author", "title", "year"):
            if not re.search(rf"\b{field}\s*=", body, re.IGNORECASE):
                problems.append(f"docs/references.bib: {key} has no {field}")
    return keys, problems


def unlisted_documents(root):
    """Documents that docs/index.md does not link: nobody finds them."""
    index = pathlib.Path(root) / "docs/index.md"
    if not index.exists():
        return []
    listed = {posixpath.normpath(posixpath.join("docs", link)) for link in LINK.findall(index.read_text(encoding="utf-8"))}
    documents = (path.as_posix() for path in tree.files(root, ".md") if path.parts[0] == "docs")
    return [name for name in documents if name not in listed and name != "docs/index.md"]


def check(root):
    keys, problems = bibliography(root)
    problems += [f"{name}: docs/index.md does not link it" for name in unlisted_documents(root)]
    for path in tree.files(root, ".hpp", ".cpp", ".md"):
        text = tree.read(root, path) or ""
        cited = text if path.suffix == ".md" else comments_only(text)
        for line, key in keys_in(cited):
            if key not in keys:
                problems.append(f"{path}:{line}: [{key}] is not in docs/references.bib")
        for name in dead_documents(root, path, cited):
            problems.append(f"{path}: {name} does not exist")
        parts = path.parts
        public = parts[:2] == ("src", "sotto") and parts[2] in MODULES and path.suffix == ".hpp" and "detail" not in parts
        if public and "/".join(parts[2:]) not in EXEMPT and not path.name.endswith("_test.hpp"):
            missing = missing_parts(text)
            if missing:
                problems.append(f"{path}:1: the opening comment has no {', '.join(missing)}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(sys.argv[1] if len(sys.argv) > 1 else "."), "references"))
