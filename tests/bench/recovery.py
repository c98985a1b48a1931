#!/usr/bin/env python3
"""What a run does after something ended, and what its processes hold, measured on real runs of the counting model.

    python3 tests/bench/recovery.py resume --samples 10000000   # start of an attempt to its first claim, at 1, 50 and 99 %; some minutes
    python3 tests/bench/recovery.py death --kills 10            # SIGKILL of a worker to its chunks being free again
    python3 tests/bench/recovery.py memory --workers 1,2,4,8    # RAM of all processes of a run, by role (the char preset)

Each prints one JSON object. Linux only; needs Python's standard library alone.
"""
import argparse
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FREE = (0, 1)  # states of a chunk that nobody holds
LEASED = 2
TINY = ("--data-mode", "lines", "--tokenizer", "byte", "--held-out-percent", 0, "--layers", 1, "--heads", 1, "--width", 16, "--seq-len", 64, "--eval-steps", 0, "--merge", "none")


def asked(run, sql, *values):
    with sqlite3.connect(f"file:{run}/tracker.sqlite?mode=ro", uri=True, timeout=30) as tracker:
        return tracker.execute(sql, values).fetchall()


def waited(run, sql, *values, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rows = asked(run, sql, *values)
        if rows:
            return rows
        time.sleep(0.005)
    sys.exit(f"this did not come within {seconds} s: {sql}")


class Bench:
    def __init__(self, a):
        self.furrowctl = a.bin + "/furrowctl"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="furrow-recovery-", dir=a.folder))

    def run(self, *words, counting=True, step_ms=None):
        env = dict(os.environ, FURROW_COUNTING="1" if counting else "0")
        if step_ms:
            env["FURROW_COUNTING_STEP_MS"] = str(step_ms)
        done = subprocess.run([self.furrowctl, *map(str, words)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"furrowctl {' '.join(map(str, words))}: {done.stdout[-2000:]}")

    def text(self, samples):
        path = self.folder / "text.txt"
        with open(path, "w") as file:
            file.writelines(f"{i} a line of text\n" for i in range(samples))
        return path

    def new_run(self, name, text, workers, *settings, **kind):
        run = self.folder / name
        self.run("run", "--preset", "char", "--data", text, "--out", run, "--workspace", self.folder / "workspace", "--workers", workers, "--threads", 1, "--devices", "cpu", *settings, **kind)
        return run


def resume(bench, a):
    block = a.samples // 1000
    run = bench.new_run("run", bench.text(a.samples), 2, *TINY, "--batch-size", 64, "--samples-per-block", block, "--chunk-samples", block * 2 // 5, "--shuffle-window-blocks", 2, "--checkpoint-minutes", 0.01, "--epochs", 1, "--stop-after-blocks", 10)
    for until, step_ms in ((500, None), (990, 3), (0, None)):  # slow near the end, or all is trained before a checkpoint tells that the block was reached
        bench.run("resume", run, "--stop-after-blocks", until, step_ms=step_ms)
    attempts = asked(run, "SELECT (min(c.claimed_wall) - a.started_wall) / 1e6, (min(i.started_wall) - a.started_wall) / 1e6 FROM attempt a JOIN incarnation i ON i.attempt=a.id"
                          " JOIN claim c ON c.incarnation=i.id GROUP BY a.id ORDER BY a.id")
    chunks = asked(run, "SELECT count(*) FROM chunk")[0][0]
    rows = [{"percent": percent, "first_claim_ms": claim, "of_that_worker_start_ms": start} for percent, (claim, start) in zip((1, 50, 99), attempts[1:])]
    return {"samples": a.samples, "chunks": chunks, "resumes": rows}


def death(bench, a):
    run = bench.new_run("run", bench.text(400_000), 3, *TINY, "--batch-size", 8, "--samples-per-block", 4000, "--chunk-samples", 400, "--max-restarts", 1000, "--detach", step_ms=20)
    times = []
    for kill in range(a.kills):
        holder, pid = waited(run, "SELECT i.id, i.pid FROM incarnation i JOIN chunk k ON k.holder=i.id WHERE i.live=1 AND i.phase='train' AND k.state=? AND i.worker=?", LEASED, kill % 3)[0]
        time.sleep(0.3)
        before = time.time_ns()
        os.kill(pid, signal.SIGKILL)
        freed = waited(run, f"SELECT wall FROM event WHERE incarnation=? AND from_state=? AND to_state IN {FREE} AND wall>?", holder, LEASED, before)
        times.append((freed[0][0] - before) / 1e6)
    bench.run("kill", run, "--wait")
    return {"kills": a.kills, "death_to_free_ms_median": statistics.median(times), "death_to_free_ms_max": max(times)}


def tree(root):
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def held(pid):
    """MB of one process: what it holds alone, its share of all, its share of mapped blocks."""
    private = share = blocks = 0
    name = ""
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            name = words[5] if len(words) > 5 else ""
        elif words[0] == "Pss:":
            share += int(words[1])
            blocks += int(words[1]) if "/blocks/" in name else 0
        elif words[0] in ("Private_Dirty:", "Private_Clean:"):
            private += int(words[1])
    return private / 1024, share / 1024, blocks / 1024


def memory(bench, a):
    rows = []
    text = bench.folder / "text.txt"
    text.write_text((ROOT / "resources/sample/tinyshakespeare.txt").read_text() * 40)
    for workers in map(int, a.workers.split(",")):
        run = bench.new_run(f"run-{workers}", text, workers, "--detach", counting=False)
        waited(run, "SELECT 1 FROM incarnation WHERE live=1 AND phase='train' AND step>=20 GROUP BY live HAVING count(*)=?", workers, seconds=300)
        supervisor = asked(run, "SELECT pid FROM process WHERE role='supervisor'")[0][0]
        figures = {pid: held(pid) for pid in tree(supervisor)}
        trainers = {pid for (pid,) in asked(run, "SELECT pid FROM incarnation WHERE live=1")}
        rows.append({"workers": workers, "all_mb": sum(f[1] for f in figures.values()), "worker_alone_mb": statistics.median(figures[p][0] for p in trainers),
                     "supervisor_and_feeder_mb": sum(f[1] for p, f in figures.items() if p not in trainers), "mapped_blocks_mb": sum(f[2] for f in figures.values())})
        bench.run("kill", run, "--wait")
    return {"memory": rows}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("what", choices=["resume", "death", "memory"])
    a.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    a.add_argument("--folder", default=None, help="folder on the disk to measure")
    a.add_argument("--samples", type=int, default=10_000_000)
    a.add_argument("--kills", type=int, default=10)
    a.add_argument("--workers", default="1,2,4,8")
    a = a.parse_args()
    bench = Bench(a)
    try:
        print(json.dumps({"resume": resume, "death": death, "memory": memory}[a.what](bench, a)))
    finally:
        subprocess.run(["rm", "-r", str(bench.folder)])


main()
