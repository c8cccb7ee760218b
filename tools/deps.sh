#!/usr/bin/env bash
# Installs the Debian packages that are missing, by name: tools/deps.sh [build|dev|docs|all]   (default: build)
#   build  what make build, test, demo, bench and package need
#   dev    what make fmt, lint and fuzz need besides
#   docs   what make docs needs besides
# Quick, and without root or network, when everything is there already.
set -euo pipefail

build=(
  cmake ninja-build g++ ccache pkg-config python3 dpkg-dev file   # tools
  libssl-dev libfmt-dev nlohmann-json3-dev                        # core
  libboost-dev libeigen3-dev libkissfft-dev                       # accounting, mechanisms, models
  zlib1g-dev                                                      # data
  libtorch-dev libopenblas0-openmp                                # deep
  libsqlite3-dev libpq-dev postgresql                             # ledger, and a server for its tests
  libcli11-dev                                                    # the command
  libgtest-dev libgmock-dev libmpfr-dev libgmp-dev iproute2       # tests
)
dev=(clang clang-format clang-tidy lld)
docs=(doxygen)

case "${1:-build}" in
  build) wanted=("${build[@]}") ;;
  dev)   wanted=("${dev[@]}") ;;
  docs)  wanted=("${docs[@]}") ;;
  all)   wanted=("${build[@]}" "${dev[@]}" "${docs[@]}") ;;
  *)     echo "usage: tools/deps.sh [build|dev|docs|all]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "deps: this is not a Debian system; please see to it that you have: ${wanted[*]}" >&2
  exit 0
fi

present=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
  [[ $present == *" installed:$package "* ]] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps: installing ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "deps: neither root nor sudo here; ask an administrator to run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; } >&2; then
  echo "deps: apt-get could not install ${missing[*]}; the lines above say why (no network? no right to use sudo?)" >&2
  exit 1
fi
