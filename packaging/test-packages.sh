#!/usr/bin/env bash
# Tries the packages of package.sh in fresh systems that have no compiler and no Qt: install, start under X, train, audit, remove, purge.
#   packaging/test-packages.sh [--preset release] [--packages DIR] [--pictures DIR] [--ubuntu MIRROR]
# --packages takes packages that are made already; --pictures keeps the pictures that were taken of the console, for somebody to look at; --ubuntu
# tries Ubuntu 24.04 from this archive too, which must be one that this machine may use. Needs root, mmdebstrap, Xvfb, imagemagick's import.
# Exit codes: 0 all is well, 1 something is not, 77 it cannot be tried here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
say() { printf 'test-packages: %s\n' "$*"; }
fail() { printf 'test-packages: %s\n' "$*" >&2; exit 1; }
skip() { printf 'test-packages: skipped: %s\n' "$*"; exit 77; }

preset=release packages='' pictures='' ubuntu=''
while [ $# -gt 0 ]; do
    case $1 in
        --preset) preset=$2 ;;
        --packages) packages=$2 ;;
        --pictures) pictures=$2 ;;
        --ubuntu) ubuntu=$2 ;;
        *) fail "What is '$1'? The first lines of this file say what is known." ;;
    esac
    shift 2
done
[ "$(id -u)" = 0 ] || skip "systems can be made by root only"
for tool in mmdebstrap Xvfb import unshare; do command -v $tool >/dev/null || skip "$tool is missing (mmdebstrap, xvfb, imagemagick, util-linux)"; done
work=$(mktemp -d /var/tmp/furrow-packages.XXXXXX)
chmod 755 "$work"
server=
finish() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf --one-file-system "$work"; }
trap finish EXIT
if [ -z "$packages" ]; then
    packages=$work/packages
    "$here/package.sh" --preset "$preset" --out "$packages"
fi
packages=$(cd "$packages" && pwd)
# The wheels that `furrowctl torch install --cpu --from` takes, as a machine without a network would get them: kept, since they are half a gigabyte.
wheels=${FURROW_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/furrow/wheels}
list=$work/torch.txt
for package in torch nvidia-cuda-runtime nvidia-cuda-cupti; do
    awk -v name="$package==" '/^[a-z]/ { wanted = index($0, name) == 1 } wanted' "$here/requirements.lock"
done >"$list"
python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes --dest "$wheels" -r "$list" ||
    fail "The wheels of libtorch cannot be fetched. Look at the network and pip's configuration."
pictures=${pictures:-$work/pictures}
mkdir -p "$pictures"

# --- a display, whose socket the systems see --------------------------------------------------------------------------------------------------
exec 3<>"$(mktemp -u "$work/display.XXXXXX" | { read -r pipe; mkfifo "$pipe"; echo "$pipe"; })"
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -ac >/dev/null 2>&1 &
server=$!
read -r -t 30 number <&3 || fail "Xvfb does not start."

# inside SYSTEM USER COMMAND: runs it there with processes, mounts and network of its own, and a few files of this machine.
inside() {
    local system=$1 user=$2 command=$3
    system=$system user=$user command=$command packages=$packages wheels=$wheels number=$number \
        unshare --mount --pid --net --fork --kill-child bash -euc '
            mkdir -p "$system/given/packages" "$system/given/wheels" "$system/tmp/.X11-unix"
            mount --bind "$packages" "$system/given/packages"
            mount --bind "$wheels" "$system/given/wheels"
            mount --bind /tmp/.X11-unix "$system/tmp/.X11-unix"
            mount -t proc proc "$system/proc"
            mount --rbind /dev "$system/dev"
            exec chroot "$system" su - "$user" -s /bin/bash -c "export DISPLAY=:$number LC_ALL=C.UTF-8; set -euo pipefail; fails() { ! \"\$@\" || { echo \"\$* should have failed\"; exit 1; }; }; $command"'
}

# pictureOf SYSTEM NAME PROGRAM: the console there, as it looks on the display.
pictureOf() {
    local system=$1 name=$2 program=$3 console
    inside "$system" anna "exec $program --workspace ~/furrow --theme dark --lang en --size 1280 800" >"$work/console.log" 2>&1 &
    console=$!
    local colours=0
    for _ in $(seq 120); do # a second each: until a window with a face is there
        sleep 1
        DISPLAY=:$number import -silent -window root "$pictures/$name.png"
        colours=$(identify -format %k "$pictures/$name.png")
        [ "$colours" -lt 64 ] || break
        kill -0 $console 2>/dev/null || break
    done
    kill $console 2>/dev/null || true
    wait $console 2>/dev/null || true
    [ "$colours" -ge 64 ] || { cat "$work/console.log"; fail "$name: the console shows nothing"; }
    ! grep -v '^qt.qpa.*theme' "$work/console.log" | grep -iE 'cannot|could not|error' || fail "$name: the console complains, see above"
    say "$name: picture with $colours colours"
}

# trains SYSTEM NAME FURROWCTL: the bundled text for some steps, and the proof.
trains() {
    inside "$1" anna "
        $3 run --name $2 --preset char --steps 30 --devices cpu --threads 2 >~/$2.log 2>&1 || { tail -n 20 ~/$2.log; exit 1; }
        $3 audit \$(ls -d ~/furrow/runs/*$2* | head -n 1)"
    say "$2: trained and audited"
}

# What a person without libtorch is told, and how they get it and lose it again.
withoutTorch='
    fails furrowctl doctor >doctor.txt; grep -q "libtorch is missing" doctor.txt
    fails furrowctl run --name none --preset char 2>refused.txt; grep -q "furrowctl torch install" refused.txt; test ! -e ~/furrow/runs
    fails furrow-worker --version 2>refused.txt; test "$(wc -l <refused.txt)" = 1'
withTorch='
    furrowctl torch install --cpu --from /given/wheels; furrowctl torch status; du -sh ~/.local/share/furrow/torch
    test -z "$(ls ~/.local/share/furrow/torch/downloads 2>/dev/null)"'

tryDeb() {
    local system=$1 name=$2
    inside "$system" root 'dpkg -i /given/packages/furrow_*.deb' >/dev/null || fail "$name: dpkg -i failed"
    inside "$system" anna "for program in furrow furrowctl; do \$program --version; done; $withoutTorch"
    inside "$system" root 'for file in man/man1/furrowctl.1.gz man/man1/furrow-worker.1.gz bash-completion/completions/furrowctl applications/org.furrow.Furrow.desktop \
        metainfo/org.furrow.Furrow.metainfo.xml mime/packages/org.furrow.Furrow.xml icons/hicolor/scalable/apps/org.furrow.Furrow.svg doc/furrow/copyright; do
        test -s /usr/share/$file || { echo "$file is missing"; exit 1; }; done; test "$(ls /usr/share/doc/furrow/licences | wc -l)" -ge 20'
    pictureOf "$system" "$name-deb" furrow
    inside "$system" anna "$withTorch"
    trains "$system" "$name-deb" furrowctl
    pictureOf "$system" "$name-deb-trained" furrow
    # Another user has a libtorch of their own, or none.
    inside "$system" berta 'fails furrow-worker --version 2>refused.txt; grep -q "libtorch is missing" refused.txt'
    inside "$system" anna 'furrowctl torch remove; test ! -e ~/.local/share/furrow/torch/unpacked; fails furrow-worker --version 2>/dev/null'
    inside "$system" root 'dpkg -r furrow; dpkg -P furrow' >/dev/null
    inside "$system" anna 'test ! -e /usr/lib/furrow; test ! -e /usr/bin/furrow; test ! -e /usr/share/doc/furrow
        test -z "$(find / -xdev -name "*furrow*" -not -path "/home/*" -not -path "/given/*" -not -path "/proc/*" -not -path "/tmp/*" 2>/dev/null)"
        furrow=$(find ~/furrow/runs -name tracker.sqlite | wc -l); test "$furrow" -ge 1'
    say "$name: .deb removed and purged; what belongs to anna is still there"
}

# Beside the programs of a folder with a space in its name, and in the cache of the one file.
tryArchives() {
    local system=$1 name=$2
    inside "$system" anna 'mkdir -p "my programs" && tar -C "my programs" -xzf /given/packages/furrow-*.tar.gz && mv "my programs"/furrow-* "my programs/furrow"
        PATH="$HOME/my programs/furrow/bin:$PATH"; furrowctl --version; furrowctl torch install --cpu --from /given/wheels'
    pictureOf "$system" "$name-tar" '"$HOME/my programs/furrow/bin/furrow"'
    trains "$system" "$name-tar" '"$HOME/my programs/furrow/bin/furrowctl"'
    # The one file finds the libtorch that is there already.
    inside "$system" anna 'sh /given/packages/furrow-*.run furrowctl torch status; sh /given/packages/furrow-*.run --unpack ~/unpacked; ~/unpacked/bin/furrowctl --version'
    pictureOf "$system" "$name-run" 'sh /given/packages/furrow-*.run'
}

trySystem() {
    local name=$1 suite=$2 mirror=$3
    say "making $name ($suite)"
    mmdebstrap --quiet --variant=minbase "$suite" "$work/$name" $mirror >"$work/$name.log" 2>&1 || { tail -n 5 "$work/$name.log"; skip "the archive of $name cannot be had here"; }
    inside "$work/$name" root 'useradd -m anna; useradd -m berta; fails command -v gcc; fails ls /usr/lib/*/libQt6Core* 2>/dev/null'
    tryDeb "$work/$name" "$name"
    tryArchives "$work/$name" "$name"
}

site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null | awk '$2 == "bookworm" && $1 ~ /debian/ { print $1; exit }')
trySystem debian-12 bookworm "${site:-http://deb.debian.org/debian}"
[ -z "$ubuntu" ] || trySystem ubuntu-24.04 noble "$ubuntu"
[ -n "$ubuntu" ] || say "Ubuntu 24.04 was not tried: name an archive with --ubuntu"
say "all is well"
