#!/bin/sh
# Furrow in one file: starts the console; with the name of one of its programs first (furrowctl, furrow-worker), that one.
#   sh @NAME@.run [furrowctl] [ARGUMENT ...]
#   sh @NAME@.run --unpack FOLDER    unpacks it for good: FOLDER/bin has the programs; ~/.local puts it into the menu too
# The first start unpacks it into the user's cache. What follows the last line of this text is a .tar.gz.
set -eu
skip=$(awk '/^exit 1 # end of the text$/ { print NR + 1; exit }' "$0")
unpack() { tail -n +"$skip" "$0" | tar -xzf - --strip-components=1 -C "$1"; }
if [ "${1:-}" = --unpack ]; then
    mkdir -p "${2:?Name the folder: --unpack FOLDER}"
    unpack "$2" && echo "Furrow is in $2; start $2/bin/furrow."
    exit
fi
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/furrow/program
home=$cache/@NAME@-@DIGEST@
if [ ! -d "$home" ]; then
    echo "Furrow is unpacked once into $home" >&2
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/.new.XXXXXX")
    if ! unpack "$new"; then
        rm -rf "$new"
        echo "Furrow could not be unpacked into $cache: 200 MB are needed there, or another place in XDG_CACHE_HOME." >&2
        exit 1
    fi
    chmod 755 "$new"
    mv -T "$new" "$home" 2>/dev/null || rm -rf "$new" # another start was faster
fi
program=furrow
case ${1:-} in furrow | furrowctl | furrow-worker) program=$1; shift ;; esac
exec "$home/bin/$program" "$@"
exit 1 # end of the text
