#!/bin/sh
# Puts sqlite3.c and sqlite3.h, made from Debian's source package, into FOLDER: packaging/cross/sqlite.sh FOLDER
# Needs network, make and tclsh. Does nothing when they are there. Exit code 77: they cannot be had here.
set -eu

folder=$1
[ ! -e "$folder/sqlite3.c" ] || exit 0
skip() { echo "no SQLite for Windows: $1"; exit 77; }
command -v apt-get >/dev/null || skip "there is no apt-get here"
command -v tclsh >/dev/null && command -v make >/dev/null || skip "install make and tcl"

work=$folder.tmp
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/sources" "$work/source"
cat >"$work/sources/debian.sources" <<END
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
# Lists of our own, so that the machine's package sources stay as they are. apt checks the signature.
apt="apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/sources -o Dir::State::lists=$work/lists"
$apt update >"$work/log" 2>&1 || skip "Debian's source packages cannot be reached"
(cd "$work/source" && $apt source --download-only sqlite3 >>"$work/log" 2>&1) || skip "the source package cannot be fetched"
cd "$work/source"
tar xf sqlite3_*.orig.tar.xz
cd sqlite3-*/
{ ./configure --disable-tcl && make sqlite3.c; } >>"$work/log" 2>&1 || { tail -5 "$work/log"; exit 1; }
mkdir -p "$folder"
cp sqlite3.h "$folder/"
cp sqlite3.c "$folder/sqlite3.c.part"
mv "$folder/sqlite3.c.part" "$folder/sqlite3.c"
rm -rf "$work"
