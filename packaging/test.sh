#!/usr/bin/env bash
# Installs what is missing, builds everything with warnings as errors, and runs the tests. Arguments go to ctest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
"$here/setup.sh"
say() { printf 'test: %s\n' "$*"; }
if [ "$(id -u)" = 0 ] && ! command -v x86_64-w64-mingw32-g++-posix >/dev/null; then
    say "installing mingw-w64 and wine for the Windows checks"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++-mingw-w64-x86-64-posix wine64 >/dev/null 2>&1 \
        || say "they cannot be installed here: the Windows checks are skipped"
fi
if [ "$(id -u)" = 0 ] && ! { command -v zsh && command -v fish; } >/dev/null; then
    say "installing zsh and fish, which try their completions"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends zsh fish >/dev/null 2>&1 \
        || say "they cannot be installed here: their completions are not tried"
fi
say "building core alone, without Qt and torch"
cmake --preset core-only >/dev/null
cmake --build --preset core-only | tail -n 1
say "building everything"
cmake --preset dev >/dev/null
cmake --build --preset dev | tail -n 1
ctest --preset core-only
ctest --preset dev -j 2 "$@"
