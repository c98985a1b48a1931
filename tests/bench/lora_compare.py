#!/usr/bin/env python3
"""LoRA of SmolLM2-135M: Furrow beside peft and transformers with eager attention. Same weights, precision, batch 1, context 512, rank, optimiser and threads, in turns.

    PY=$(packaging/oracle-env.sh)/bin/python; $PY -m pip install --no-deps --target DIR peft accelerate psutil
    PYTHONPATH=DIR $PY tests/bench/lora_compare.py --bin build/release/bin --rounds 3

Furrow's side is a whole run (feeder, ledger, telemetry), its figure the median of its steps. peft's pairs stand beside q, k, v, gate and up, ours beside the matrices that these are joined to.
Peak memory is that of the process that trains (VmHWM). Seconds of the processor are told too: they say more than the clock on a machine with other work. Prints one JSON object.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONTEXT = 512
RANK = 8
WARM = 3  # steps that are not counted: memory is taken, kernels are chosen
LAYERS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def peak_bytes(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def peft_side(folder, a):
    import peft
    import torch
    import transformers as t
    torch.set_num_threads(a.threads)
    t.logging.set_verbosity_error()
    model = t.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32 if a.precision == "fp32" else torch.bfloat16, attn_implementation="eager")
    model = peft.get_peft_model(model, peft.LoraConfig(r=RANK, lora_alpha=RANK, task_type="CAUSAL_LM", target_modules=LAYERS))
    model.train()
    model.config.use_cache = False
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    tokens = torch.randint(0, model.config.vocab_size, (1, CONTEXT))
    times = []
    processor = 0.0
    for step in range(a.steps):
        if step == WARM:
            processor = time.process_time()
        began = time.perf_counter()
        model(input_ids=tokens, labels=tokens).loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter() - began)
    return {"tokens_per_s": CONTEXT / statistics.median(times[WARM:]), "processor_s": (time.process_time() - processor) / (a.steps - WARM),
            "peak_bytes": peak_bytes(os.getpid()), "trained": sum(p.numel() for p in trained),
            "programs": f"peft {peft.__version__}, transformers {t.__version__}, torch {torch.__version__}"}


def called(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched(furrowctl, training, run):
    """Seconds of the processor that a step of the worker takes, seen from outside; the median leaves out the step at which a checkpoint is written."""
    seen = {}
    while training.poll() is None:
        time.sleep(1)
        asked = subprocess.run([furrowctl, "status", str(run), "--json"], capture_output=True, text=True)
        for worker in json.loads(asked.stdout)["workers"] if asked.returncode == 0 else []:
            try:
                if worker["alive"] and worker["step"] >= WARM:
                    seen.setdefault(worker["step"], processor_seconds(worker["pid"]))
            except OSError:
                pass  # it has just ended
    steps = sorted(seen)
    return statistics.median((seen[b] - seen[a]) / (b - a) for a, b in zip(steps, steps[1:]))


def furrow_side(furrowctl, folder, text, run, a):
    settings = [word for one in a.settings for word in ("--" + one.split("=")[0].replace("_", "-"), one.split("=")[1])]
    command = [furrowctl, "run", "--init-from", folder, "--data", text, "--out", run, "--lora-rank", RANK, "--seq-len", CONTEXT, "--batch-size", 1, "--precision", a.precision, "--weight-decay", 0.01,
               "--lr", 1e-4, "--steps", a.steps, "--epochs", 50, "--workers", 1, "--threads", a.threads, "--devices", "cpu:1", "--eval-steps", 0, "--held-out-percent", 0, *settings]
    training = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    processor = watched(furrowctl, training, run)
    if training.returncode:
        sys.exit(training.stderr.read())
    out = run.with_suffix(".csv")
    called(furrowctl, "export", run, "--format", "csv", "--out", out)
    with open(out / "steps.csv", encoding="utf-8") as file:
        speeds = [float(row["tokens_per_second"]) for row in csv.DictReader(file) if int(row["step_tokens"]) == CONTEXT]
    worker = json.loads(called(furrowctl, "status", run, "--json"))["workers"][0]
    return {"tokens_per_s": statistics.median(speeds[WARM:]), "processor_s": processor, "peak_bytes": worker["memory"]["peak_bytes"]}


def summary(a, theirs, ours):
    def median(rows, key):
        return statistics.median(row[key] for row in rows)
    told = {"programs": theirs[0]["programs"], "threads": a.threads, "rounds": a.rounds, "precision": a.precision, "settings": a.settings}
    for key, digits in (("tokens_per_s", 1), ("processor_s", 2), ("peak_bytes", 0)):
        them, us = median(theirs, key), median(ours, key)
        told[key] = {"peft": round(them, digits), "furrow": round(us, digits), "ratio": round(us / them, 3)}
    return told


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--steps", type=int, default=15)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    a.add_argument("--settings", nargs="*", default=[], help="more settings of Furrow's runs, as document_masks=on")
    a.add_argument("--peft", help="folder of the model: the other side alone")
    a = a.parse_args()
    if a.peft:
        print(json.dumps(peft_side(a.peft, a)))
        return
    sys.path.insert(0, str(ROOT / "tests/oracle"))
    from gguf_smollm2 import extract
    furrowctl = a.bin + "/furrowctl"
    words = "the of and a to in is you that it he was for on are as with his they at be this have from".split()
    with tempfile.TemporaryDirectory() as name:
        where = pathlib.Path(name)
        model, text = where / "model", where / "text.txt"
        called(furrowctl, "export", extract(where), "--format", "huggingface", "--out", model)
        r = random.Random(1)
        text.write_text("".join(" ".join(r.choice(words) for _ in range(100)) + "\n" for _ in range(400)))
        theirs, ours = [], []
        for i in range(a.rounds):
            theirs.append(json.loads(called(sys.executable, __file__, "--peft", model, "--steps", a.steps, "--threads", a.threads, "--precision", a.precision).splitlines()[-1]))
            ours.append(furrow_side(furrowctl, model, text, where / f"run{i}", a))
            print(json.dumps({"peft": theirs[-1], "furrow": ours[-1]}), file=sys.stderr, flush=True)
    print(json.dumps(summary(a, theirs, ours)))


if __name__ == "__main__":
    main()
