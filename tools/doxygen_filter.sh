#!/usr/bin/env bash
# A header as Doxygen wants to see it: the opening comment documents the file, comments before a declaration or behind it document that.
# Brackets, angles and backslashes in comments are mathematics and citations, not markup.
exec awk '
  function shield(text) { gsub(/[\\@<>&#"$%]/, "\\\\&", text); gsub(/\/\*/, "/ *", text); return text }
  NR == 1 && /^\/\// { print "/** @file"; opening = 1 }
  opening && /^\/\// { line = $0; sub(/^\/\/ ?/, "", line); print "    " shield(line) "  "; next }
  opening { print "*/"; opening = 0 }
  /^[ ]*\/\/ / { start = match($0, /\/\//); print substr($0, 1, start - 1) "/// " shield(substr($0, start + 3)); next }
  /;[ ]+\/\/ / || /,[ ]+\/\/ / { start = match($0, /[ ]\/\/ /); print substr($0, 1, start) "///< " shield(substr($0, start + 4)); next }
  { print }
' "$1"
