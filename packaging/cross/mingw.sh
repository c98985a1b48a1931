#!/bin/sh
# Cross-builds the operating-system part of core for Windows with mingw-w64 and runs its checks under wine64.
#   packaging/cross/mingw.sh [--no-install] [BUILD FOLDER]
# Exit codes: 0 all checks passed, 1 a build or check failed, 77 mingw-w64 or wine64 cannot be had here.
set -eu

skip() { echo "Windows checks skipped: $1"; exit 77; }
have_tools() { command -v x86_64-w64-mingw32-g++-posix >/dev/null && [ -x /usr/lib/wine/wine64 ]; }

install=yes
if [ "${1:-}" = --no-install ]; then install=no; shift; fi
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/mingw}

if ! have_tools && [ $install = yes ] && [ "$(id -u)" = 0 ]; then
    echo "installing mingw-w64 and wine64"
    apt-get install -y --no-install-recommends g++-mingw-w64-x86-64-posix wine64 >/dev/null 2>&1 || true
fi
have_tools || skip "install g++-mingw-w64-x86-64-posix and wine64 to run them"

# Only these headers of the host, not its C library.
mkdir -p "$build/include"
build=$(cd "$build" && pwd)
for header in spdlog fmt xxhash.h xxh3.h nlohmann; do
    [ ! -e "/usr/include/$header" ] || ln -sfn "/usr/include/$header" "$build/include/$header"
done
[ -e "$build/include/spdlog" ] && [ -e "$build/include/xxhash.h" ] || skip "install libspdlog-dev and libxxhash-dev"

# The same SQLite as on Linux; without it the tracker is left out.
native=$("$root/packaging/native.sh" --path)
sqlite=
if [ -f "$native/complete" ]; then sqlite=$native/src; else echo "the tracker is left out: run packaging/native.sh"; fi

cmake -S "$root/packaging/cross" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$root/packaging/cmake/mingw-toolchain.cmake" \
    -DFURROW_CROSS_INCLUDE="$build/include" -DFURROW_CROSS_SQLITE="$sqlite" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
cmake --build "$build"

# A Windows of its own for the checks, set to version 10 and without windows.
export WINEPREFIX="$build/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
unset DISPLAY WAYLAND_DISPLAY || true
wine=/usr/lib/wine/wine64
if [ ! -e "$WINEPREFIX/ready" ]; then
    "$wine" wineboot --init >/dev/null 2>&1 || skip "wine64 does not start here"
    "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null 2>&1 || true
    touch "$WINEPREFIX/ready"
fi
status=0
"$wine" "$build/bin/platform_checks.exe" || status=1
[ -z "$sqlite" ] || "$wine" "$build/bin/tracker_checks.exe" || status=1
wineserver=/usr/lib/wine/wineserver64
[ ! -x $wineserver ] || "$wineserver" -k || true
exit $status
