#!/usr/bin/env python3
"""Fails where a C++ file is not written as .clang-format says, and says what mends it. The second argument is the clang-format of packaging/requirements.txt:
another version writes some lines otherwise."""
import pathlib, re, subprocess, sys

ROOT, FORMATTER = map(pathlib.Path, sys.argv[1:3])
files = [path for room in ("core", "ui", "app", "tests") for path in sorted((ROOT / room).rglob("*")) if path.suffix in (".h", ".cpp")]
said = subprocess.run([FORMATTER, "--dry-run", "--Werror", *files], capture_output=True, text=True)
wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: error:", said.stderr, re.M)))
if wrong or said.returncode or not files:
    print(f"{len(wrong)} of {len(files)} files are not formatted. Run: {FORMATTER} -i {' '.join(wrong)}" if wrong else said.stderr)
    sys.exit(1)
