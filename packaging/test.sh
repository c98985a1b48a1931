#!/usr/bin/env bash
# Installs what is missing, builds everything with warnings as errors, and runs the tests. Arguments go to ctest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
"$here/setup.sh"
say() { printf 'test: %s\n' "$*"; }
say "building core alone, without Qt and torch"
cmake --preset core-only >/dev/null
cmake --build --preset core-only | tail -n 1
say "building everything"
cmake --preset dev >/dev/null
cmake --build --preset dev | tail -n 1
ctest --preset core-only
ctest --preset dev -j 2 "$@"
