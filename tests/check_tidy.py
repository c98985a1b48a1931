#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, on the C++ files that changed since a commit, and fails where it finds anything.

    python3 tests/check_tidy.py . build/dev                # what the last commit and the working tree change; all files: the preset `tidy`
    FURROW_TIDY_SINCE=v0.1.0 python3 tests/check_tidy.py . build/dev

Exit code 77 (skipped) where clang-tidy is missing or nothing is known of the commit.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


ROOT, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
TIDY = shutil.which("clang-tidy") or skip("clang-tidy is not installed")
MOST = 60  # three seconds each
SINCE = os.environ.get("FURROW_TIDY_SINCE", "HEAD~1")

changed = subprocess.run(["git", "-C", ROOT, "diff", "--name-only", "--diff-filter=d", SINCE, "--", "core", "ui", "app"], capture_output=True, text=True)
if changed.returncode:
    skip(f"git does not know {SINCE}")
commands = json.loads((BUILD / "compile_commands.json").read_text())
for entry in commands:  # clang cannot read what GCC precompiled
    entry["command"] = re.sub(r"-Winvalid-pch -include \S+", "", entry["command"])
scratch = tempfile.TemporaryDirectory()
(pathlib.Path(scratch.name) / "compile_commands.json").write_text(json.dumps(commands))
built = {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in commands}
files = [path for path in (ROOT / name for name in changed.stdout.split("\n")) if path in built]
if len(files) > MOST and "FURROW_TIDY_SINCE" not in os.environ:
    print(f"{len(files)} files changed: only {MOST} of them are looked at")
    files = files[:: -(-len(files) // MOST)]


def findings(path):
    said = subprocess.run([TIDY, "-p", scratch.name, "--quiet", path], capture_output=True, text=True)
    found = set(re.findall(r"^.+?:\d+:\d+: (?:error|warning): .+$", said.stdout, re.M))
    return found or ({said.stdout + said.stderr} if said.returncode else set())


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = sorted(set().union(*pool.map(findings, files)))  # one of a header is found once for each file that includes it
print("\n".join(found), f"{len(found)} findings in {len(files)} files that changed since {SINCE}", sep="\n")
sys.exit(1 if found else 0)
