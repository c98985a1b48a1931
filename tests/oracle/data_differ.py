#!/usr/bin/env python3
"""Random files of every format, encoding, compression and dialect, read by Furrow and by Python, pandas and pyarrow: the rows are equal, or both refuse.

    python tests/oracle/data_differ.py build/dev/bin/data_rows                  # FURROW_DIFFER_CASES=100000 for more, FURROW_DIFFER_SEED=n for others
    python tests/oracle/data_differ.py build/dev/bin/data_rows csv:30:1234      # one case again, with what both read; its files are kept

First come the cases of data_seeds.txt, which once showed a fault. Where a generator changes, other cases get these names: then only their tests in tests/core/data still hold the faults. Exit code 77 (skipped) where a package is missing, 1 when anything differs.
"""
import collections
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import pandas
    import pyarrow
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed (packaging/oracle-env.sh installs it)")
    sys.exit(77)

from data_cases import REFUSED, UNREADABLE
from data_csv_files import csv_file
from data_json_files import json_file
from data_parquet_files import parquet_file
from data_text_files import text_file

FAMILIES = {"text": text_file, "csv": csv_file, "json": json_file, "parquet": parquet_file}
KEPT_DIFFERENCES = 20


class Furrow:
    """The rows that a run would read, from one process for all files."""

    def __init__(self, program):
        self.program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, case):
        """@return (rows, what it says of how it reads, or why it refuses)"""
        self.program.stdin.write(json.dumps(case.config()).encode() + b"\n")
        self.program.stdin.flush()
        line = self.program.stdout.readline()
        if not line:
            raise SystemExit(f"data_rows ended at {case.config()}")
        answer = json.loads(line)
        if "refused" in answer:
            return REFUSED, [answer["refused"]]
        rows = [self.row() for _ in range(answer["rows"])]
        return (rows if not answer["wrong"] else answer["wrong"]), answer["reading"]

    def row(self):
        unreadable, size = struct.unpack("<BI", self.program.stdout.read(5))
        found = self.program.stdout.read(size)
        return UNREADABLE if unreadable else found


def make(name, folder):
    """The case of that name, such as "csv:30:1234"; None when its generator made nothing of it."""
    try:
        return FAMILIES[name.split(":")[0]](random.Random(name), folder)
    except UnicodeDecodeError:  # half a character at the end of a damaged file: Python reads none of it, Furrow the rest
        return None


def difference(case, rows):
    """What is not the same, in words; "" for nothing. Without a row that has text there is nothing to train: Furrow may refuse, readers give none."""
    expected = case.rows or REFUSED
    if rows == expected or (rows == REFUSED and not any(expected)):
        return ""
    if isinstance(rows, str) or isinstance(expected, str):
        return f"Furrow: {rows if isinstance(rows, str) else f'{len(rows)} rows'}; reference: {expected if isinstance(expected, str) else f'{len(expected)} rows'}"
    if len(rows) != len(expected):
        first = next((i for i, pair in enumerate(zip(rows, expected)) if pair[0] != pair[1]), min(len(rows), len(expected)))
        return f"Furrow: {len(rows)} rows, reference: {len(expected)}; from row {first} on: {rows[first:first + 2]!r:.300} / {expected[first:first + 2]!r:.300}"
    first = next(i for i, pair in enumerate(zip(rows, expected)) if pair[0] != pair[1])
    return f"row {first} of {len(rows)}: {rows[first]!r:.400} / {expected[first]!r:.400}"


def try_case(furrow, name, keep, chatty=False):
    """@return None (no case), or whether both agree"""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        case = make(name, folder)
        if case is None:
            return None
        rows, says = furrow.read(case)
        if rows == REFUSED and "carriage returns" in says[0]:
            return None  # where a record ends is for a person to say; pandas and Python's csv differ too
        wrong = difference(case, rows)
        if wrong or chatty:
            kept = keep / name.replace(":", "-")
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            print(f"{'DIFFERS' if wrong else 'same'} {name} ({case.note}): {wrong}\n    {kept}, settings {case.settings}\n    {' '.join(says)}", flush=True)
        return not wrong


def kept_names():
    lines = pathlib.Path(__file__).with_name("data_seeds.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def names(seed, cases):
    """The kept ones, then that many new ones, of all families in turn: the same on a fast machine and a slow one."""
    yield from kept_names()
    for number in range(cases):
        yield f"{list(FAMILIES)[number % len(FAMILIES)]}:{seed}:{number // len(FAMILIES)}"


def main(program, asked):
    seed, cases = os.environ.get("FURROW_DIFFER_SEED", "30"), int(os.environ.get("FURROW_DIFFER_CASES", "10000"))
    keep = pathlib.Path(tempfile.mkdtemp(prefix="furrow-differ-"))
    furrow = Furrow(program)
    tried, differing = collections.Counter(), []
    for name in asked or names(seed, cases):
        same = try_case(furrow, name, keep, chatty=bool(asked))
        if same is None:
            continue
        tried[name.split(":")[0]] += 1
        if not same:
            differing.append(name)
        if len(differing) == KEPT_DIFFERENCES:
            break
    print(f"{tried.total()} cases of seed {seed} ({', '.join(f'{n} {family}' for family, n in tried.items())}), {len(differing)} differ" + (f": {' '.join(differing)}" if differing else ""))
    if not any(keep.iterdir()):
        keep.rmdir()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
