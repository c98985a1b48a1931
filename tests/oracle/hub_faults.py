#!/usr/bin/env python3
"""Runs over a hub that fails at random, with feeders that are killed at random: every row in the blocks is that of the source, each once, and every byte that the hub sent is accounted for.

    python tests/oracle/hub_faults.py build/dev/bin/furrowctl                # 12 cases; FURROW_FAULT_CASES=1000, FURROW_FAULT_SECONDS=n (none begins later), FURROW_FAULT_SEED=n, FURROW_FAULT_JOBS=n (at once) for others
    python tests/oracle/hub_faults.py build/dev/bin/furrowctl 30:17          # one case again; its folder is kept

One case in twenty is a whole run: feeder, workers and supervisor are killed, it is resumed until it is done, and the audit counts. The others are feeders alone, made and started as a person could: furrowctl new, furrowctl feed. The hub is that
of python_hub.py. Exit code 77 (skipped) where a package is missing, 1 when anything differs.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

try:
    import pandas  # data_differ asks for it
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed (packaging/oracle-env.sh installs it)")
    sys.exit(77)

from data_runs import COUNTS, MODEL, samples_of
from hub_files import files_of
from python_hub import FAULTS, Hub

LOST_BY_KILL = 1 << 20  # what was on the way and not on disk yet, of four transfers
SLACK = 64 << 10  # of each file: what is looked at in pieces of its own
CASE_SECONDS = 240
MOST_BLOCKS = 60  # each is synced to the disk
FEEDER = ["--data-mode", "lines", "--held-out-percent", "0", "--max-unreadable-percent", "0", "--shuffle-window-blocks", "2000"]  # so that a feeder prepares all without a worker


class Case:
    def __init__(self, furrowctl, name, folder):
        self.furrowctl, self.name, self.folder = furrowctl, name, folder
        self.random = r = random.Random(f"faults:{name}")
        self.source = files_of(r)
        self.is_whole_run = r.random() < 0.05
        self.is_web = len(self.source.files) == 1 and r.random() < 0.25
        digests = r.random() < 0.5
        self.kills = 0
        self.again = False
        self.hub = Hub(self.source.files, seed=name, one_in=r.choice([3, 4, 6, 10]), bytes_per_second=r.choice([2e6, 8e6, 30e6]), digests=digests)
        self.proven = self.source.proven and (digests or not self.is_web)
        self.faults = [fault for fault in FAULTS if fault != "wrong" or self.proven]
        self.environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy") and not key.startswith(("HF_", "AWS_", "FURROW_"))}
        self.environment |= {"HF_ENDPOINT": self.hub.endpoint, "HF_HOME": str(folder / "none")}
        self.log = open(folder / "log", "ab")

    def ctl(self, *arguments, seconds=CASE_SECONDS):
        done = subprocess.run([self.furrowctl, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, env=self.environment)
        self.log.write(done.stdout)
        self.log.flush()
        return done.returncode, done.stdout.decode(errors="replace")

    def wrong(self):
        """What is not as it must be; "" for nothing."""
        try:
            return self.make() or (self.train() if self.is_whole_run else self.feed()) or self.wrong_rows() or self.wrong_bytes()
        except subprocess.TimeoutExpired as slow:
            return f"{slow.cmd[1]} takes longer than {slow.timeout} s"
        finally:
            self.hub.stop()
            self.log.close()

    def make(self):
        self.hub.faults = [fault for fault in self.faults if fault != "expired" or not self.is_web]  # a file that may not be read is refused; later it is waited for
        chunk = self.random.choice([7, 20, 50])
        block = chunk * max(self.random.choice([1, 3, 10]), -(-len(self.source.rows) // (MOST_BLOCKS * chunk)))
        name = next(iter(self.source.files))
        self.run = self.folder / "runs" / "one"
        asked = ["new", "--data", f"{self.hub.endpoint}/web/{name}" if self.is_web else "hf://o/n", "--out", self.run, *MODEL, *FEEDER, "--chunk-samples", chunk, "--samples-per-block", block, "--transfers", self.random.choice([1, 4, 4])]
        for faults in self.hub.faults, self.hub.faults, []:  # what fails is said and not kept: a person tries again, and a healthy hub heals it
            self.hub.faults = faults
            code, said = self.ctl(*asked)
            if code == 0:
                break
        else:
            return f"new ends with {code}: {said[-500:]}"
        self.hub.faults = self.faults
        self.sent_before = self.hub.sent
        if not self.is_web and self.random.random() < 0.5:
            self.hub.move({"train.txt": b"other\n"})
        return ""

    def start(self, *command):
        return subprocess.Popen([self.furrowctl, *map(str, command)], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, env=self.environment)

    def feed(self):
        end = time.monotonic() + CASE_SECONDS
        for kill in range(self.random.choice([0, 1, 2, 3])):
            feeder = self.start("feed", self.run)
            self.outage(end)
            time.sleep(self.random.choice([0.05, 0.3, 1.2]) * (0.5 + self.random.random()))
            feeder.send_signal(signal.SIGKILL)
            feeder.wait()
            self.kills += 1
        feeder = self.start("feed", self.run)
        self.outage(end)
        seen = time.monotonic()
        while time.monotonic() < end and feeder.poll() is None and not self.is_prepared():
            time.sleep(0.1)
            if time.monotonic() > end - CASE_SECONDS / 2:
                self.hub.one_in = 0  # with one fault in three requests many small ones take their time
            if time.monotonic() > seen + 25 and self.may_try_again():
                feeder.terminate()
                feeder.wait()
                self.ctl("chunks", "retry", self.run)
                feeder, seen = self.start("feed", self.run), time.monotonic()
        done = self.is_prepared()
        if done:
            time.sleep(1.3)  # it says once a second what it has read
        feeder.terminate()
        code = feeder.wait()
        return "" if done and code in (0, -signal.SIGTERM) else f"the feeder ends with {code}, all prepared: {done}; it said {self.doing()}"

    def may_try_again(self):
        """Two wrong copies one behind the other are for a person to judge: the run ends, and is resumed."""
        self.again = sum(kind == "wrong" for kind, *_ in self.hub.spoiled) > 1
        return self.again

    def outage(self, end):
        if self.random.random() < 0.2:
            time.sleep(self.random.random() / 2)
            self.hub.away = True
            time.sleep(min(2 * self.random.random(), max(0, end - time.monotonic())))
            self.hub.away = False

    def ledger(self, question):
        with sqlite3.connect(f"file:{self.run}/tracker.sqlite?mode=ro", uri=True, timeout=20) as ledger:
            return ledger.execute(question).fetchall()

    def is_prepared(self):
        (known, prepared), = self.ledger("SELECT coalesce(block_count, -1), prepared_blocks FROM dataset")
        return known == prepared

    def doing(self):
        return self.ledger("SELECT doing FROM process WHERE role='feeder'")

    def train(self):
        """With kills of every kind of process, resumed until it has ended by itself."""
        end = time.monotonic() + CASE_SECONDS
        code, said = self.ctl("resume", self.run, "--detach")
        if code:
            return f"it does not start: {said[-300:]}"
        for _ in range(self.random.choice([1, 2, 3])):
            time.sleep(self.random.uniform(0.3, 2.5))
            self.kill_one()
        while time.monotonic() < end:
            state = json.loads(self.ctl("status", self.run, "--json")[1])["state"]
            if state == "finished":
                return self.wrong_audit()
            if state == "failed" and self.may_try_again():
                self.ctl("chunks", "retry", self.run)
            if state in ("interrupted", "failed", "stopped"):
                self.ctl("resume", self.run, "--detach")
            time.sleep(0.5)
        self.ctl("kill", self.run)
        return f"it is {state} after {CASE_SECONDS} s"

    def kill_one(self):
        own = [("SELECT pid FROM process WHERE role='feeder'", 3), ("SELECT pid FROM incarnation WHERE live=1", 3), ("SELECT pid FROM process WHERE role='supervisor'", 1)]
        for pid, in self.ledger(self.random.choices([question for question, _ in own], [weight for _, weight in own])[0]):
            try:
                if str(self.run).encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1
            except OSError:
                pass  # it has ended already

    def wrong_audit(self):
        code, said = self.ctl("audit", self.run, "--json")
        found = json.loads(said)["epochs"][0]["samples"]
        rows = len(self.source.rows)
        return "" if code == 0 and found["rows"] == rows and found["trained"] == rows else f"the audit (exit code {code}) counts {({name: found[name] for name in COUNTS})} of {rows} rows"

    def wrong_rows(self):
        stored = set()
        for block in (self.folder / "cache" / "blocks").glob("*.block"):
            for file, row, _, text in samples_of(block):
                if (file, row) in stored:
                    return f"row {row} of file {file} is stored twice"
                stored.add((file, row))
                if self.source.rows.get((file, row)) != text:
                    return f"row {row} of file {file} is {text!r:.200}, in the source {self.source.rows.get((file, row))!r:.200}"
        missing = [place for place in self.source.rows if place not in stored]
        return f"rows {missing[:5]} are in no block" if missing else ""

    def allowed(self):
        """Bytes that the hub may have sent: those needed, and what its own faults and the kills cost."""
        most = self.source.needed * 1.02 + SLACK * len(self.source.files) + self.kills * LOST_BY_KILL
        for kind, path, _ in self.hub.spoiled:
            size = len(self.source.files.get(path, b""))
            most += size if kind == "wrong" else min(size, LOST_BY_KILL) if kind in ("whole", "other", "short") else 0  # an answer that contradicts itself is thrown away
        return most

    def wrong_bytes(self):
        sent = self.hub.sent
        told = json.loads((self.run / "reading.json").read_text())["downloaded_bytes"]
        if sent > self.allowed():
            return f"the hub sent {sent} bytes, {self.source.needed} are needed, {self.allowed():.0f} may be ({self.kills} kills, {collections.Counter(kind for kind, *_ in self.hub.spoiled)})"
        cut_off = sum(min(len(self.source.files.get(path, b"")), LOST_BY_KILL) for kind, path, _ in self.hub.spoiled if kind in ("whole", "other"))
        at_most, at_least = sent - self.sent_before, sent - self.sent_before - cut_off - self.kills * max(LOST_BY_KILL, self.source.needed)
        return "" if at_least <= told <= at_most + 4096 else f"the hub sent the feeders {at_most} bytes, they tell {told} ({self.kills} kills)"


def try_case(furrowctl, name, keep=False):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="furrow-faults-"))
    case = Case(furrowctl, name, folder)
    wrong = case.wrong()
    if wrong or keep:
        print(f"{'DIFFERS' if wrong else 'same'} {name} ({case.source.note}{', web' if case.is_web else ''}{', whole run' if case.is_whole_run else ''}): {wrong}\n    {folder}", flush=True)
    else:
        shutil.rmtree(folder)
    return name, case, wrong


def main(furrowctl, asked):
    seed, wanted, jobs = os.environ.get("FURROW_FAULT_SEED", "30"), int(os.environ.get("FURROW_FAULT_CASES", "12")), int(os.environ.get("FURROW_FAULT_JOBS", "3"))
    totals, met, differing, left = collections.Counter(), collections.Counter(), [], threading.Event()
    end = time.monotonic() + float(os.environ.get("FURROW_FAULT_SECONDS", "1e6"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(lambda name=name: None if left.is_set() or time.monotonic() > end else try_case(furrowctl, name, bool(asked))) for name in asked or [f"{seed}:{number}" for number in range(wanted)]]
        for done in concurrent.futures.as_completed(running):
            if done.result() is None:
                continue
            name, case, wrong = done.result()
            totals.update(cases=1, whole_runs=case.is_whole_run, web=case.is_web, kills=case.kills, again=case.again, rows=len(case.source.rows), sent=case.hub.sent, needed=case.source.needed)
            met.update(kind for kind, *_ in case.hub.spoiled)
            if wrong:
                differing.append(name)
            if totals["cases"] % 50 == 0:
                print(f"{totals['cases']} of {len(running)} cases, {len(differing)} differ", file=sys.stderr, flush=True)
            if len(differing) == 10:
                left.set()
    print(f"{totals['cases']} cases of seed {seed} ({totals['whole_runs']} whole runs, {totals['web']} files of a server), {totals['kills']} kills, {totals['again']} tried again by hand, {met.total()} faults ({', '.join(f'{n} {kind}' for kind, n in met.most_common())}), "
          f"{totals['rows']} rows, {totals['sent']} bytes sent for {totals['needed']} needed; {len(differing)} differ" + (f": {' '.join(differing)}" if differing else ""))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
