#!/usr/bin/env bash
# Installs what building Furrow needs: Debian packages, patched SQLite and sentencepiece (native.sh), and a private Python environment
# that is only a source of libtorch and Arrow C++. Can be repeated; does next to nothing when everything is there, and then needs no root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

packages() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$here/apt-packages.txt"; }
missing_packages() {
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" { print $2 }')
    packages | grep -vxF -f <(printf '%s\n' "$installed") || true
}

command -v dpkg-query >/dev/null || stop "This script knows Debian and Ubuntu. On another system install the packages named in packaging/apt-packages.txt by hand, then use the CMake presets."
missing=$(missing_packages)
if [ -n "$missing" ]; then
    say "installing $(wc -w <<<"$missing") packages: $(tr '\n' ' ' <<<"$missing")"
    root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || stop "Packages are missing and this is not root. Ask an administrator to run: apt-get install $(tr '\n' ' ' <<<"$missing")"
        root=sudo
    fi
    $root apt-get update -qq || stop "apt-get update failed. Look at the network and /etc/apt/sources.list, then run this again."
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing >/dev/null \
        || stop "apt-get install failed; what it said stands above. Mend that and run this again."
fi

"$here/native.sh"

env=$("$here/pyenv-path.sh")
# The lines of requirements.lock for one package: nothing is installed whose hash is not written there.
locked() { awk -v name="$1==" '/^[a-z]/ { wanted = index($0, name) == 1 } wanted' "$here/requirements.lock"; }
if [ -n "${FURROW_TORCH:-}" ]; then
    [ -d "$FURROW_TORCH/include/torch" ] || stop "FURROW_TORCH is $FURROW_TORCH, which has no include/torch. Point it at an unpacked libtorch."
    say "using libtorch in $FURROW_TORCH"
fi
if [ ! -f "$env/complete" ]; then
    say "making the environment that libtorch and Arrow come from, about 5 GB: $env"
    rm -rf "$env"
    mkdir -p "$env"
    /usr/bin/python3 -m venv "$env" || stop "python3 -m venv failed. Install python3-venv and run this again."
    pip="$env/bin/pip install -q --disable-pip-version-check --require-hashes"
    locked uv >"$env/uv.txt"
    $pip -r "$env/uv.txt" || stop "pip could not install uv. Look at the network or the package index, then run this again."
    list=$env/wanted.txt
    if [ -n "${FURROW_TORCH:-}" ]; then { locked pyarrow; locked clang-format; } >"$list"; else cp "$here/requirements.lock" "$list"; fi
    UV_LINK_MODE=copy "$env/bin/uv" pip install -q --python "$env/bin/python" --require-hashes -r "$list" \
        || $pip -r "$list" \
        || stop "The Python packages of packaging/requirements.lock could not be installed. Look at the network and the free disk (5 GB), then run this again."
    touch "$env/complete"
fi
say "everything is there"
