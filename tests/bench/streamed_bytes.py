#!/usr/bin/env python3
"""What Parquet that is far away costs in bytes: Furrow, datasets and litdata read the text column of the same files from one hub on loopback that counts.

    pip install datasets litdata aiohttp       # into an environment of its own, beside the packages of packaging/requirements-oracle.txt
    python tests/bench/streamed_bytes.py build/release/bin/furrowctl [--rows 6000] [--json]

Figures are bytes sent for each byte of the text column and the footer. Furrow: a run is made and its feeder prepares every block, as `furrowctl run` has it do; "resumes" kills the feeder ten times. datasets streams with columns=["text"], its resumes
go on by state_dict; litdata streams with its ParquetLoader, its resumes go on by state_dict with the cache that is there. What a library refuses is told in its place.
"""
import argparse
import io
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
from python_hub import Hub  # noqa: E402

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"
RESUMES = 10
BLOCKS = 20


def letters(r, size):
    return "".join(r.choices(LETTERS, k=size))


def shape(rows, group, others=0, other_bytes=0, as_list=False, text_bytes=800):
    r = random.Random(3)
    texts = [f"{i} " + letters(r, text_bytes) for i in range(rows)]
    columns = {"text": [[text[:400], text[400:]] for text in texts] if as_list else texts}
    columns |= {f"other{i}": [letters(r, other_bytes) for _ in range(rows)] for i in range(others)}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd", row_group_size=group, write_page_checksum=True, use_dictionary=False)
    return sink.getvalue()


def shapes(rows):
    return {"one row group": shape(rows, 10**6), "text a third of a row, groups of 1,000 rows": shape(rows, 1000, 2, 800), "text a third of a row, one row group": shape(rows, 10**6, 2, 800),
            "row groups of 100 rows": shape(rows, 100, 1, 400), "lists": shape(rows, 5000, 1, 400, as_list=True), "one of six columns": shape(rows, 2000, 5, 800)}


def needed(data):
    meta = pq.ParquetFile(io.BytesIO(data)).metadata
    at = [i for i in range(meta.num_columns) if meta.row_group(0).column(i).path_in_schema.startswith("text")]
    return sum(meta.row_group(group).column(i).total_compressed_size for group in range(meta.num_row_groups) for i in at) + meta.serialized_size + 8


# --- Furrow ---

SETTINGS = "--preset char --tokenizer byte --held-out-percent 0 --chunk-samples 50 --devices cpu:1".split()


def environment(hub):
    return {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")} | {"HF_ENDPOINT": hub.endpoint, "HF_HOME": "/nonexistent"}


def is_prepared(run):
    with sqlite3.connect(f"file:{run}/tracker.sqlite?mode=ro", uri=True, timeout=20) as ledger:
        return ledger.execute("SELECT coalesce(block_count, -1) = prepared_blocks FROM dataset").fetchone()[0]


def furrow(furrowctl, hub, folder, is_list, way, rows):
    def call(*arguments):
        return subprocess.Popen([furrowctl, *map(str, arguments)], env=environment(hub), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    runs = [folder / "runs" / f"run{i}" for i in range(3 if way == "three runs at once" else 1)]
    for run in runs:
        if call("new", "--data", "hf://o/n", "--text-column", "text[]" if is_list else "text", *SETTINGS, "--samples-per-block", rows // BLOCKS, "--shuffle", "false" if way == "in order" else "true", "--out", run).wait():
            return "the run is not made"
    for _ in range(RESUMES if way == "shuffled, 10 resumes" else 0):
        feeder = call("feed", runs[0])
        time.sleep(0.35)
        feeder.send_signal(signal.SIGKILL)
        feeder.wait()
    feeders = [call("feed", run) for run in runs]
    while not all(is_prepared(run) for run in runs):
        time.sleep(0.2)
        if any(feeder.poll() is not None for feeder in feeders):
            return "a feeder ended"
    for feeder in feeders:
        feeder.terminate()
        feeder.wait()
    return ""


# --- the libraries, each in a process of its own ---

DATASETS = """
import sys, datasets
url, way = sys.argv[1:3]
def stream():
    made = datasets.load_dataset("parquet", data_files=url, split="train", streaming=True, columns=["text"])
    return made if way == "in order" else made.shuffle(seed=1, buffer_size=1000)
def rows(start=0, state=None):
    made = stream()
    if state: made.load_state_dict(state)
    return made
count, state, total = 0, None, int(sys.argv[3])
resumes = 10 if "resumes" in way else 0
for part in range(resumes + 1):
    made = rows(0, state)
    for row in made:
        count += 1
        if part < resumes and count >= total * (part + 1) // (resumes + 1): break
    state = made.state_dict() if resumes else None
"""
LITDATA = """
import sys, litdata
from litdata.streaming.item_loader import ParquetLoader
folder, way, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
url = "hf://datasets/o/n/data"
index = litdata.index_hf_dataset(url, cache_dir=folder)
resumes = 10 if "resumes" in way else 0
state, count = None, 0
for part in range(resumes + 1):
    made = litdata.StreamingDataset(url, item_loader=ParquetLoader(), index_path=index, cache_dir=folder + "/chunks", shuffle=way != "in order", seed=1)
    loader = litdata.StreamingDataLoader(made, batch_size=50)
    if state: loader.load_state_dict(state)
    for batch in loader:
        count += 1
        if part < resumes and count * 50 >= total * (part + 1) // (resumes + 1): break
    state = loader.state_dict() if resumes else None
"""


def library(code, way, rows, hub, is_hub):
    with tempfile.TemporaryDirectory() as home:
        asked = environment(hub) | {"HF_HOME": home, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        if not is_hub:
            asked.pop("HF_ENDPOINT")  # else datasets takes the address for one of the hub
        done = subprocess.run([sys.executable, "-c", code, home if is_hub else f"{hub.endpoint}/web/data/train.parquet", way, str(rows)], env=asked, capture_output=True, text=True, timeout=900)
    return "" if done.returncode == 0 else next((line for line in reversed(done.stderr.splitlines()) if "Error" in line), "it ended")[:120]


WAYS = ["in order", "shuffled", "shuffled, 10 resumes", "three runs at once"]


def measure(name, data, way, rows, furrowctl):
    def one(read):
        hub = Hub({"data/train.parquet": data})
        try:
            wrong = read(hub)
            return wrong or round(hub.sent / needed(data), 3)
        finally:
            hub.stop()

    def of_furrow(hub):
        with tempfile.TemporaryDirectory() as folder:
            return furrow(furrowctl, hub, pathlib.Path(folder), name == "lists", way, rows)

    found = {"shape": name, "way": way, "file over column": round(len(data) / needed(data), 2), "furrow": one(of_furrow)}
    if way != "three runs at once":  # they share nothing between processes
        found["datasets"] = one(lambda hub: library(DATASETS, way, rows, hub, False))
        found["litdata"] = one(lambda hub: library(LITDATA, way, rows, hub, True))
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("furrowctl")
    options.add_argument("--rows", type=int, default=6_000)
    options.add_argument("--json", action="store_true")
    options.add_argument("--only", default="")
    asked = options.parse_args()
    for name, data in shapes(asked.rows).items():
        for way in WAYS:
            if asked.only in name + " " + way:
                found = measure(name, data, way, asked.rows, asked.furrowctl)
                print(json.dumps(found) if asked.json else " | ".join(str(value) for value in found.values()), flush=True)


main()
