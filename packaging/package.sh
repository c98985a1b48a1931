#!/usr/bin/env bash
# Makes the packages for Linux: furrow_VERSION_amd64.deb, furrow-VERSION-x86_64.tar.gz and furrow-VERSION-x86_64.run, one file that starts as it is.
#   packaging/package.sh [--preset release] [--out build/packages]
# All three hold the same tree with everything but libtorch (which `furrowctl torch install` brings), glibc, libstdc++ and what belongs to drivers.
# Built on Debian 12 they start on any system with glibc 2.36 or later. Needs what setup.sh installs, and dpkg-dev.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
say() { printf 'package: %s\n' "$*"; }
stop() { printf 'package: %s\n' "$*" >&2; exit 1; }

preset=release
out=build/packages
while [ $# -gt 0 ]; do
    case $1 in
        --preset) preset=${2:?--preset NAME}; shift 2 ;;
        --out) out=${2:?--out DIR}; shift 2 ;;
        *) stop "What is '$1'? --preset NAME and --out DIR are known." ;;
    esac
done
mostBytes=120000000
command -v dpkg-shlibdeps >/dev/null || stop "dpkg-dev is missing. Install it (apt-get install dpkg-dev), then run this again."

say "building (preset $preset)"
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target furrow furrowctl furrow-worker furrow_described furrow_shipped_files | tail -n 1
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "build/$preset/CMakeCache.txt")
machine=$(uname -m)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.stage.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
cmake --install "build/$preset" --prefix "$tree" --strip >/dev/null
home=$tree/lib/furrow
docs=$tree/share/doc/furrow

# --- Qt's plugins, and the libraries that programs and plugins need ---------------------------------------------------------------------------
plugins=$(qmake6 -query QT_INSTALL_PLUGINS)
# Nothing of the console draws with OpenGL, so there is no plugin for it: no driver of the system is ever loaded beside our libraries.
for plugin in platforms/libqxcb platforms/libqoffscreen platforms/libqminimal platforms/libqwayland-generic iconengines/libqsvgicon imageformats/libqsvg \
    imageformats/libqjpeg platforminputcontexts/libcomposeplatforminputcontextplugin platforminputcontexts/libibusplatforminputcontextplugin \
    wayland-shell-integration/libxdg-shell wayland-decoration-client/libbradient; do
    if [ -f "$plugins/$plugin.so" ]; then
        install -D -m 644 "$plugins/$plugin.so" "$home/plugins/$plugin.so"
    elif [[ $plugin != *wayland* ]]; then
        stop "Qt's plugin $plugin.so is not in $plugins. Run packaging/setup.sh."
    fi
done
printf '[Paths]\nPrefix = ..\nPlugins = plugins\n' >"$home/bin/qt.conf"

# Of the system that it starts on: glibc, the compiler's runtime, and what comes with drivers. libtorch is found at run time.
theirs='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|nss_.*|stdc\+\+|gcc_s|cuda|nvidia-.*|drm|gbm|torch.*|c10.*|cud.*|cupti|furrow-cuda))\.so'
torch=$(cd "build/$preset/torch/lib" && pwd -P) # what furrow-trainer was linked to
mapfile -t programs < <(find "$home/bin" "$home/plugins" -type f \( -perm -u+x -o -name '*.so' \))
sources=$work/sources
env -u LD_LIBRARY_PATH ldd "${programs[@]}" | sed -n 's/^\t\(\S*\) => \(\/\S*\) .*/\1 \2/p; s/^\t\(\S*\) => not found/\1 -/p' | sort -u |
    grep -Ev "$theirs| $tree/" >"$sources" || true
! grep ' -$' "$sources" || stop "The libraries above are found nowhere. Run packaging/setup.sh."
while read -r name file; do
    install -D -m 644 "$(readlink -f "$file")" "$home/lib/$name"
done <"$sources"

strip --strip-unneeded "$home"/lib/lib{arrow,parquet}.so.* # pyarrow ships them with their debug symbols

# --- fonts of the console: the weights that it uses ------------------------------------------------------------------------------------------
fonts=$(printf '%s\n' /usr/share/fonts/opentype/inter/Inter-{Regular,Italic,Medium,SemiBold,Bold}.otf /usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-{Regular,Bold}.ttf)
for font in $fonts; do
    [ -f "$font" ] || stop "$font is missing. Run packaging/setup.sh."
    install -D -m 644 "$font" "$home/share/furrow/fonts/$(basename "$font")"
done

install -m 644 "$here/fonts.conf" "$home/share/furrow/fonts.conf"

# --- licences of all that is inside ----------------------------------------------------------------------------------------------------------
# Of headers that are compiled in nothing is left that dpkg could be asked about.
{
    awk '{ print $2 }' "$sources" | xargs -r readlink -f
    find "$home/plugins" -type f -printf "$plugins/%P\n"
    printf '%s\n' "$fonts" /usr/include/CLI/CLI.hpp /usr/include/nlohmann/json.hpp /usr/include/spdlog/spdlog.h /usr/include/gloo/allreduce.h
} | sort -u >"$work/files"
grep -v /site-packages/ "$work/files" >"$work/owned" # Arrow: below
# Where /lib is a link to /usr/lib, dpkg knows a file by either name.
sed 's|^/usr||' "$work/owned" | sed 'p; s|^|/usr|' | xargs dpkg-query -S 2>/dev/null | sed -n 's|^\([^:, ]*\)[^ ]*: \(/usr\)\?\(/.*\)|\1 \3|p' >"$work/owners" || true
unowned=$(sed 's|^/usr||' "$work/owned" | grep -vxF -f <(cut -d' ' -f2 "$work/owners") || true)
[ -z "$unowned" ] || stop "No package of the system owns $unowned, so its licence is not known."
cut -d' ' -f1 "$work/owners" | sort -u | xargs dpkg-query -W -f '${Package} ${Version} ${source:Package} ${source:Version}\n' | sort -u >"$work/packages"
mkdir -p "$docs/licences"
while read -r package _; do
    [ -f "/usr/share/doc/$package/copyright" ] || stop "/usr/share/doc/$package/copyright is missing."
    cp -L "/usr/share/doc/$package/copyright" "$docs/licences/$package.txt"
done <"$work/packages"
arrow=$(echo "$(packaging/pyenv-path.sh)"/lib/python3*/site-packages/pyarrow-*.dist-info)
cp "$arrow/licenses/LICENSE.txt" "$docs/licences/arrow.txt"
cp "$arrow/licenses/NOTICE.txt" "$docs/licences/arrow-notice.txt"
# The texts that those files name by their place on a Debian system.
grep -oh '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9+]' "$docs"/licences/*.txt | sort -u | while read -r text; do
    [ ! -f "$text" ] || install -D -m 644 "$(readlink -f "$text")" "$docs/licences/common-licenses/$(basename "$text")"
done
{
    echo "Furrow $version, GPL-3.0-or-later (LICENSE). Inside are, unchanged, the libraries, plugins and fonts of these packages of the system;"
    echo "their licences are in licences/, their sources in Debian's archive under the names given. Arrow C++ is from pyarrow $(basename "$arrow" .dist-info | sed 's/pyarrow-//')."
    printf '\n%-34s %-28s %s\n' package version source
    while read -r package own source sourceVersion; do printf '%-34s %-28s %s %s\n' "$package" "$own" "$source" "$sourceVersion"; done <"$work/packages"
} >"$docs/copyright"
say "$(wc -l <"$work/packages") packages of the system and Arrow are inside; their licences are in share/doc/furrow/licences"

# --- nothing may be missing, and nothing may come from this machine --------------------------------------------------------------------------
while read -r program; do
    missing=$(env -u LD_LIBRARY_PATH ldd "$program" 2>/dev/null | awk '/not found/ { print $1 }' | grep -Ev "$theirs" || true)
    strange=$(env -u LD_LIBRARY_PATH ldd "$program" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }' | grep -v " $home/" | grep -Ev "$theirs" | grep -v ' not$' || true)
    [[ $program == */furrow-trainer ]] || [ -z "$missing$strange" ] || stop "$program would use $missing $strange of the system."
done < <(find "$home/bin" -type f -perm -u+x)
find "$tree" -type d -exec chmod 755 {} +

sized() {
    local bytes
    bytes=$(stat -c %s "$1")
    say "$(basename "$1"): $bytes bytes"
    [ "$bytes" -le $mostBytes ] || stop "$1 is larger than $mostBytes bytes."
}

# --- .deb ------------------------------------------------------------------------------------------------------------------------------------
deb=$work/deb
mkdir -p "$deb/DEBIAN" "$deb/usr" "$work/debian"
cp -a "$tree/." "$deb/usr/"
gzip -9n "$deb"/usr/share/man/man1/*.1
architecture=$(dpkg --print-architecture)
printf 'Source: furrow\n\nPackage: furrow\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$home/lib" -l"$torch" "$home"/bin/furrow* "$home"/lib/*.so* 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
# It names the packages of what is inside too: of the system there are only these.
depends=$(tr ',' '\n' <<<"$depends" | sed 's/^ *//' | grep -E '^(libc6|libgcc-s1|libstdc\+\+6) ' | paste -sd, | sed 's/,/, /g')
[[ $depends == *libc6* ]] || stop "dpkg-shlibdeps did not say what the package depends on."
cat >"$deb/DEBIAN/control" <<CONTROL
Package: furrow
Version: $version
Architecture: $architecture
Maintainer: Furrow developers <furrow@localhost>
Section: science
Priority: optional
Installed-Size: $(du -sk "$deb/usr" | cut -f1)
Depends: $depends
Recommends: ca-certificates, xkb-data, libx11-data
Suggests: fonts-noto-cjk
Description: Train language models, every chunk exactly once
 Furrow cuts a text data set into blocks and chunks, lets independent workers
 train the chunks in parallel, shows losses, coverage maps and epoch progress
 while they work, and can prove that every chunk went into the surviving
 weights exactly once per epoch.
 .
 libtorch is not inside: 'furrowctl torch install' brings it for one user.
CONTROL
(cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -Zxz -z3 --build "$deb" "$out/furrow_${version}_$architecture.deb" >/dev/null
sized "$out/furrow_${version}_$architecture.deb"

# --- .tar.gz ---------------------------------------------------------------------------------------------------------------------------------
name=furrow-$version-$machine
mv "$tree" "$work/$name"
tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name -cf - "$name" | gzip -6n >"$out/$name.tar.gz"
sized "$out/$name.tar.gz"

# --- .run: unpacks itself once, then starts ----------------------------------------------------------------------------------------------------
digest=$(sha256sum "$out/$name.tar.gz" | cut -c1-16)
sed -e "s/@NAME@/$name/g; s/@DIGEST@/$digest/g" "$here/self-start.sh" >"$work/head"
cat "$work/head" "$out/$name.tar.gz" >"$out/$name.run"
chmod 755 "$out/$name.run"
sized "$out/$name.run"
