#!/usr/bin/env bash
# Prints where the private Python environment of this version of requirements.lock lives.
# One folder per content of the file, shared by all checkouts of one user.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
key=$(sha256sum "$here/requirements.lock" | cut -c1-12)
echo "${FURROW_PYENV:-${XDG_CACHE_HOME:-$HOME/.cache}/furrow/pyenv-$key}"
