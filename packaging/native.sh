#!/usr/bin/env bash
# Builds the libraries of native.txt, static, into a folder of the user's cache; every checkout with the same native.txt shares it.
#   packaging/native.sh          builds what is missing; can be repeated, and does nothing when it is there
#   packaging/native.sh --path   prints the folder
# Sources are kept in ~/.cache/furrow/sources. Where they cannot be fetched, put the files there by hand: their hashes are checked all the same.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/furrow
key=$(cat "$here/native.txt" "$here/native.sh" "$here/native-sentencepiece.patch" | sha256sum | cut -c1-12)
prefix=$cache/native-$key
sources=$cache/sources

# What SQLite is built with, here and for Windows. Nothing of Furrow loads extensions or shares a cache between connections.
sqlite_options="-DSQLITE_THREADSAFE=1 -DSQLITE_DQS=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_SHARED_CACHE"
# Hidden: libtorch has a protobuf of its own, and other libraries may bring the system's SQLite; neither may meet ours. sentencepiece reads
# files of strangers, so a broken rule ends the process (assertions stay on).
flags="-O2 -fPIC -fvisibility=hidden"
hardened="-fvisibility-inlines-hidden -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS"

if [ "${1:-}" = --path ]; then echo "$prefix"; exit 0; fi
[ ! -f "$prefix/complete" ] || exit 0

say() { printf 'native: %s\n' "$*"; }
stop() { printf 'native: %s\n' "$*" >&2; exit 1; }

# field NAME NUMBER: 2 version, 3 sha256, 4 addresses
field() { awk -v name="$1" -v number="$2" '$1 == name { print $number }' "$here/native.txt"; }
addresses() { awk -v name="$1" '$1 == name { for (i = 4; i <= NF; ++i) print $i }' "$here/native.txt"; }
is_whole() { [ -f "$2" ] && [ "$(sha256sum "$2" | cut -d' ' -f1)" = "$(field "$1" 3)" ]; }
file_of() { local address; address=$(addresses "$1" | head -n 1); address=${address#*:}; echo "$sources/${address##*/}"; }

# The mirrors that this machine's apt was set up with, then Debian's own.
debian_mirrors() {
    # shellcheck disable=SC2016
    { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -E '^https?://.*/debian/?$' || true
      echo http://deb.debian.org/debian/; } | sed 's|/*$|/|' | awk '!seen[$0]++'
}
# Debian's downloader knows the proxies and certificates that apt was set up with.
download() {
    if [ -x /usr/lib/apt/apt-helper ]; then
        /usr/lib/apt/apt-helper -q -o Acquire::Retries=2 download-file "$1" "$2" "SHA256:$3"
    else
        curl -fsSL --retry 2 -o "$2" "$1"
    fi
}
# pip checks the hash before it looks into the file.
from_package_index() {
    local name=$1 list=$work/$1.txt
    echo "$name==$(field "$name" 2) --hash=sha256:$(field "$name" 3)" >"$list"
    "$work/pip/bin/pip" download -q --disable-pip-version-check --require-hashes --no-deps --no-build-isolation -d "$work/fetched" -r "$list" "${@:2}"
}
make_pip() {
    [ ! -x "$work/pip/bin/pip" ] || return 0
    /usr/bin/python3 -m venv "$work/pip" && from_package_index setuptools \
        && "$work/pip/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$work/fetched/"setuptools-*.whl
}
fetch_from() {
    local name=$1 address=$2 target=$3 mirror
    case $address in
    debian:*)
        for mirror in $(debian_mirrors); do
            download "$mirror${address#debian:}" "$target" "$(field "$name" 3)" && return 0
        done
        return 1 ;;
    pypi:*) make_pip && from_package_index "$name" "--no-binary=$name" && mv "$work/fetched/${address#pypi:}" "$target" ;;
    *) download "$address" "$target" "$(field "$name" 3)" ;;
    esac
}
fetch() {
    local name=$1 file address
    file=$(file_of "$name")
    if is_whole "$name" "$file"; then return 0; fi
    mkdir -p "$sources"
    for address in $(addresses "$name"); do
        say "fetching $name $(field "$name" 2)"
        if fetch_from "$name" "$address" "$work/part" >>"$work/log" 2>&1 && is_whole "$name" "$work/part"; then
            mv "$work/part" "$file"
            return 0
        fi
        rm -f "$work/part"
    done
    tail -n 5 "$work/log" >&2
    stop "$name $(field "$name" 2) could not be fetched with the hash that packaging/native.txt names. Look at the network; where it is no longer offered, put the file into $sources by hand, or name a newer version and its hash in packaging/native.txt."
}

unpack() { mkdir -p "$work/$1" && tar xf "$(file_of "$1")" -C "$work/$1" --strip-components=1; }
attempt() { "$@" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; stop "building failed: $*. What it said stands above; the whole of it in $work/log."; }; }

build_sqlite() {
    unpack sqlite
    cd "$work/sqlite"
    attempt ./configure --disable-tcl --disable-readline
    attempt make sqlite3.c
    # shellcheck disable=SC2086
    attempt "${CC:-cc}" $flags $sqlite_options -D_HAVE_SQLITE_CONFIG_H -I. -c sqlite3.c -o sqlite3.o
    attempt ar rcs "$made/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h "$made/include/"
    cp sqlite3.c sqlite3.h "$made/src/"
    echo "$sqlite_options" >"$made/src/sqlite3.options"
}
build_sentencepiece() {
    unpack sentencepiece
    cd "$work/sentencepiece"
    attempt patch -p1 --fuzz=0 -i "$here/native-sentencepiece.patch"
    cd sentencepiece
    attempt cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=$flags $hardened" \
        -DSPM_ENABLE_SHARED=OFF -DSPM_ENABLE_TCMALLOC=OFF -DSPM_DISABLE_EMBEDDED_DATA=ON
    attempt cmake --build build --target sentencepiece-static
    cp build/src/libsentencepiece.a "$made/lib/"
    cp src/sentencepiece_processor.h "$made/include/"
    echo "#define SENTENCEPIECE_VERSION \"$(cat VERSION.txt)\"" >"$made/include/sentencepiece_version.h"
    cp LICENSE "$made/licences/sentencepiece.txt"
    local part
    for part in absl darts_clone protobuf-lite; do cp "third_party/$part/LICENSE" "$made/licences/sentencepiece-$part.txt"; done
}

mkdir -p "$cache"
exec 9>"$cache/native.lock"
flock 9 # two checkouts may be set up at once
[ ! -f "$prefix/complete" ] || exit 0
rm -rf "$cache/native-building" # of an attempt that failed: its log was for reading
work=$cache/native-building
made=$work/made
mkdir -p "$made/include" "$made/lib" "$made/src" "$made/licences"
fetch sqlite
fetch sentencepiece
say "building SQLite $(field sqlite 2) and sentencepiece $(field sentencepiece 2), a minute or two: $prefix"
(build_sqlite)
(build_sentencepiece)
touch "$made/complete"
rm -rf "$prefix" # it is not complete
mv "$made" "$prefix"
rm -rf "$work"
