#!/usr/bin/env python3
"""`furrowctl estimate` beside the peak of a real worker (VmHWM), three steps of the bundled text and a checkpoint each.

    python3 tests/bench/memory_estimate.py            # a dozen presets and settings, some minutes; the largest takes 5.5 GB
    python3 tests/bench/memory_estimate.py --preset 10m --precision bf16

Prints a line for each. Linux only; needs Python's standard library alone.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FURROWCTL = str(ROOT / "build/release/bin/furrowctl")
THREADS = "2"
CASES = """--preset char
--preset char-large --batch-size 16
--preset 10m --tokenizer char
--preset 10m
--preset 10m --precision bf16
--preset 10m --optimizer adamw8bit
--preset 30m
--preset 124m --batch-size 1 --seq-len 256
--preset 10m --tokenizer char --width 264
--preset 10m --width 264 --recompute true
--preset 30m --width 392 --batch-size 4
--preset hrm-1m --tokenizer char
--preset hrm-10m --tokenizer char --batch-size 8"""


def peak_of_worker(run):
    peak = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if words[0].endswith("furrow-worker") and "trainer" in words and run in words:
                peak = max(peak, int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) * 1024)
        except (OSError, AttributeError):  # it ended meanwhile
            pass
    return peak


def measured(words):
    with tempfile.TemporaryDirectory(prefix="furrow-memory-") as folder:
        run = folder + "/run"
        command = [FURROWCTL, "run", "--out", run, "--steps", "3", "--workers", "1", "--threads", THREADS, "--eval-steps", "0", "--eval-batches", "1", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_of_worker(run))
            time.sleep(0.02)
        if process.returncode:
            sys.exit(f"{' '.join(command)}: {process.stdout.read()[-1000:]}")
        return peak


def main():
    cases = [sys.argv[1:]] if len(sys.argv) > 1 else [line.split() for line in CASES.splitlines()]
    for words in cases:
        estimate = json.loads(subprocess.run([FURROWCTL, "estimate", "--threads", THREADS, "--json", *words], capture_output=True, text=True, check=True).stdout)["formula"]
        peak = measured(words)
        print(f"{' '.join(words):50s} measured {peak / 1e6:7.0f} MB   estimated {estimate / 1e6:7.0f} MB   {estimate / peak:.2f}", flush=True)


if __name__ == "__main__":
    main()
