#!/usr/bin/env bash
# Installs what is missing, builds, and starts the main job: the bundled text trained by two workers on the CPU or by all GPUs.
# With a display the console opens on the run; without one the progress is shown here. Arguments go to `furrowctl run`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
"$here/setup.sh"
say() { printf 'run: %s\n' "$*"; }
[ -f build/release/build.ninja ] || { say "configuring build/release"; cmake --preset release >/dev/null; }
say "building (the first time takes some minutes)"
cmake --build --preset release --target furrow furrowctl furrow-worker | tail -n 1
bin=build/release/bin
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    run=$("$bin/furrowctl" new --json "$@" | sed -n 's/.*"run":"\([^"]*\)".*/\1/p')
    [ -n "$run" ] || exit 1
    "$bin/furrowctl" resume --detach "$run"
    say "opening the console; closing it does not stop the training"
    exec "$bin/furrow" "$run"
fi
say "no display: progress is shown here, Ctrl+C stops after a checkpoint"
exec "$bin/furrowctl" run "$@"
