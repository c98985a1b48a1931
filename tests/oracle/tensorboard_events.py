#!/usr/bin/env python3
"""The tensorboard package reads our event files, checksums included: every step, time and value.

    python tensorboard_events.py PROGRAM     PROGRAM is event_file_demo
Exits with 77 (skipped) where tensorboard is missing.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
except ImportError:
    print("tensorboard is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "events.out.tfevents.1000.furrow"
        subprocess.run([sys.argv[1], str(path)], check=True)
        reader, records = PyRecordReader_New(str(path)), 0
        while True:  # checks both checksums of each record
            try:
                reader.GetNext()
                records += 1
            except Exception as end:
                assert "read less bytes" in str(end) or "No more events" in str(end) or isinstance(end, EOFError) or type(end).__name__ == "OutOfRangeError", end
                break
        assert records == 601, records
        events = EventAccumulator(folder, size_guidance={"scalars": 0}).Reload()
        assert sorted(events.Tags()["scalars"]) == ["train/learning_rate", "train/loss"]
        for tag, value in (("train/loss", lambda s: 1 / s), ("train/learning_rate", lambda s: 1e-3 * s)):
            read = [(e.step, e.wall_time, e.value) for e in events.Scalars(tag)]
            assert read == [(s, 1000.5 + s, float32(value(s))) for s in range(1, 301)], read[:3]
    print("tensorboard reads 300 steps of two curves as they were written")


if __name__ == "__main__":
    main()
