#!/usr/bin/env bash
# Where tests put their files: in memory if there is room (every model and ledger is forced to the
# disk as it is written, which is half of a test's time), else the usual place.
room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)
if [ -w /dev/shm ] && [ "${room:-0}" -gt 4000000 ]; then
  echo /dev/shm
else
  echo "${TMPDIR:-/tmp}"
fi
