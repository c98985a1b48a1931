#!/usr/bin/env python3
"""Small real runs over random files: every row that was trained is compared with what Python, pandas and pyarrow read, and the counts of the audit with theirs.

    python tests/oracle/data_runs.py build/dev/bin/furrowctl             # 30 runs; FURROW_DIFFER_RUNS=n, FURROW_DIFFER_SEED=n for others
    python tests/oracle/data_runs.py build/dev/bin/furrowctl csv:30:12   # one case again; its run is kept

The rows are taken out of the prepared blocks, as core/data/FORMAT.md describes them. Exit code 77 (skipped) where a package is missing, 1 when anything differs.
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

from data_differ import FAMILIES, REFUSED, UNREADABLE, make

LEAST_BYTES, MOST_BYTES = 200, 6_000  # of text in a file: enough for the windows of a model, and few enough for a run of some seconds
MODEL = "--preset char --tokenizer byte --layers 1 --heads 2 --width 32 --seq-len 16 --batch-size 1 --warmup-steps 10 --epochs 1 --eval-steps 0 --threads 1 --devices cpu:1 --max-unreadable-percent 100".split()
LEFT_OUT = 4
COUNTS = ["rows", "trained", "filtered", "failed", "held_out", "duplicates"]


def samples_of(block):
    """(file, row, flags, text) of each sample of a prepared block; the tokens are bytes."""
    data = block.read_bytes()
    token_bytes, _, chunks = struct.unpack_from("<III", data, 12)
    table, = struct.unpack_from("<Q", data, len(data) - 32)
    for chunk in range(chunks):
        at, _, _, samples, tokens = struct.unpack_from("<5Q", data, table + 128 * chunk)

        def take(kind, count):
            nonlocal at
            values = struct.unpack_from(f"<{count}{kind}", data, at)
            at += (struct.calcsize(f"<{count}{kind}") + 7) // 8 * 8
            return values
        text = bytes(take({2: "H", 4: "I"}[token_bytes], tokens))
        lengths, _, rows, files, flags = take("I", samples), take("Q", samples), take("q", samples), take("i", samples), take("B", samples)
        begin = 0
        for length, row, file, flag in zip(lengths, rows, files, flags):
            yield file, row, flag, text[begin:begin + length]
            begin += length


def expected_counts(rows, held_out, skips_duplicates):
    """What the audit must count. Which texts are held out is Furrow's choice; equal texts must share it."""
    counts = collections.Counter({name: 0 for name in COUNTS}, rows=len(rows))
    seen = set()
    for row in rows:
        kind = "failed" if row is UNREADABLE else "filtered" if not row else "held_out" if row in held_out else "duplicates" if skips_duplicates and row in seen else "trained"
        counts[kind] += 1
        seen.add(row)
    return dict(counts)


class Run:
    def __init__(self, furrowctl, folder):
        self.furrowctl, self.folder = furrowctl, folder / "run"  # which is its own workspace

    def ctl(self, *arguments):
        done = subprocess.run([self.furrowctl, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")

    def train(self, case, r):
        settings = [word for key, value in case.settings.items() for word in ("--" + key.replace("_", "-"), str(value).lower() if isinstance(value, bool) else str(value))]
        self.skips = r.random() < 0.3
        chunk = r.choice([1, 3, 10, 50])
        chosen = ["--chunk-samples", chunk, "--samples-per-block", chunk * r.choice([1, 2, 7]), "--held-out-percent", r.choice([0, 10]), "--duplicates", "skip" if self.skips else "report"]
        code, said = self.ctl("run", "--data", case.paths[0], "--out", self.folder, *MODEL, *settings, *chosen)
        return "" if code == 0 else f"the run ends with {code}: {said[-600:]}"

    def difference(self, rows):
        """What is not the same in blocks and audit as in the reference; "" for nothing."""
        stored = {}
        for block in self.folder.rglob("*.block"):
            for file, row, flags, text in samples_of(block):
                if file != 0 or row in stored:
                    return f"row {row} of file {file} is stored twice"
                if rows[row] != text:
                    return f"row {row} is trained as {text!r:.300}, the reference has {rows[row]!r:.300}"
                stored[row] = flags
        missing = [number for number, row in enumerate(rows) if row and number not in stored]
        if missing:
            return f"rows {missing[:5]} are in no block"
        held_out = {rows[row] for row, flags in stored.items() if flags & 1}
        counts = expected_counts(rows, held_out, self.skips)
        trained = sum(not flags & LEFT_OUT for flags in stored.values())
        if trained != counts["trained"]:
            return f"{trained} rows in the blocks are to be trained, not {counts['trained']}"
        code, said = self.ctl("audit", self.folder, "--json")
        audit = json.loads(said)
        found = {name: audit["epochs"][0]["samples"][name] for name in COUNTS}
        if code != 0 or found != counts:
            return f"the audit (exit code {code}) counts {found}, the reference {counts}"
        chunks = json.loads(self.ctl("audit", self.folder, "--chunks", "--json")[1])["chunks"]
        once = len({(chunk["block"], chunk["column"]) for chunk in chunks}) == len(chunks)
        in_weights = sum(chunk["samples"] for chunk in chunks)
        return "" if once and in_weights == counts["trained"] else f"{in_weights} samples in {len(chunks)} chunks are in the weights, not {counts['trained']}, or a chunk is there twice"


def is_small(case):
    return case is not None and case.rows != REFUSED and LEAST_BYTES <= sum(len(row or b"") for row in case.rows) <= MOST_BYTES


def try_run(furrowctl, name, keep):
    """@return None (no case for a run), or whether both agree"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="furrow-run-"))
    try:
        case = make(name, folder)
        if not is_small(case):
            return None
        run = Run(furrowctl, folder)
        wrong = run.train(case, random.Random(name)) or run.difference(case.rows)
        if wrong or keep:
            print(f"{'DIFFERS' if wrong else 'same'} {name} ({case.note}), settings {case.settings}: {wrong}\n    {folder}", flush=True)
            keep = True
        return not wrong
    finally:
        if not keep:
            shutil.rmtree(folder)


def main(furrowctl, asked):
    seed, wanted = os.environ.get("FURROW_DIFFER_SEED", "30"), int(os.environ.get("FURROW_DIFFER_RUNS", "30"))
    names = iter(asked) if asked else (f"{list(FAMILIES)[number % len(FAMILIES)]}:{seed}:{number // len(FAMILIES)}" for number in range(10**9))
    done, differing = 0, []
    for name in names:
        same = try_run(furrowctl, name, keep=bool(asked))
        if same is None:
            continue
        done += 1
        if not same:
            differing.append(name)
        if done == wanted or len(differing) == 5:
            break
    print(f"{done} runs of seed {seed}, {len(differing)} differ" + (f": {' '.join(differing)}" if differing else ""))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
