#!/usr/bin/env python3
"""Furrow beside a plain eager PyTorch loop (tests/oracle/nanogpt_reference.py): same text, model, settings and threads, in turns.

    $(packaging/pyenv-path.sh)/bin/python tests/bench/nanogpt_compare.py --bin build/release/bin
    ... --steps 2000 --rounds 3 --evaluate    # and the held-out loss after nanoGPT's 2000 iterations, each round with another seed

A round is: PyTorch, then Furrow, each with all threads; then two Furrow processes of one thread each at once (what two workers do).
Prints one JSON object with the medians over the rounds and the ratios.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def last_object(text):
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def finished(process):
    out, _ = process.communicate()
    if process.returncode:
        sys.exit(f"{process.args[0]} ended with {process.returncode}")
    return last_object(out)


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    a.add_argument("--data", default=str(ROOT / "resources/sample/tinyshakespeare.txt"))
    a.add_argument("--steps", type=int, default=300)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--evaluate", action="store_true")
    a = a.parse_args()

    def pytorch(seed):
        return start([sys.executable, str(ROOT / "tests/oracle/nanogpt_reference.py"), "--data", a.data, "--steps", str(a.steps), "--threads", str(a.threads), "--seed", str(seed)]
                     + (["--evaluate"] if a.evaluate else []))

    def furrow(threads, seed):
        evaluations = str(a.steps if a.evaluate else 10 * a.steps)
        return start([a.bin + "/furrow-worker", "--role", "task", "--task", "stream", "--preset", "char", "--data", a.data, "--steps", str(a.steps),
                      "--threads", str(threads), "--eval-every", evaluations, "--seed", str(seed), "--json"])

    reference, one, two = [], [], []
    for seed in range(1337, 1337 + a.rounds):
        reference.append(finished(pytorch(seed)))
        one.append(finished(furrow(a.threads, seed)))
        two.append([finished(p) for p in [furrow(1, seed), furrow(1, seed)]])
    speed_reference = statistics.median(r["tokens_per_s"] for r in reference)
    speed_one = statistics.median(r["tokens_per_s"] for r in one)
    speed_two = statistics.median(sum(r["tokens_per_s"] for r in pair) for pair in two)
    result = {"steps": a.steps, "rounds": a.rounds, "threads": a.threads, "program": reference[0]["program"], "pytorch_tokens_per_s": round(speed_reference),
              "furrow_tokens_per_s": round(speed_one), "furrow_two_processes_tokens_per_s": round(speed_two), "ratio": round(speed_one / speed_reference, 3),
              "ratio_two_processes": round(speed_two / speed_reference, 3)}
    if a.evaluate:
        result["pytorch_validation_loss"] = [round(r["validation_loss"], 4) for r in reference]
        result["furrow_validation_loss"] = [round(r["validation_loss"], 4) for r in one]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
