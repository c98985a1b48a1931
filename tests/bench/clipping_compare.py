#!/usr/bin/env python3
"""What clipping each window's gradient by itself costs: Furrow's steps beside plain ones, and Opacus' ghost clipping beside plain PyTorch, in turns.

    PY=$(packaging/oracle-env.sh)/bin/python
    $PY tests/bench/clipping_compare.py --bin build/release/bin --rounds 5 --seconds 6

The model of the preset char (4 layers, width 128, 12 windows of 64; for Opacus with a head of its own and with biases, since it takes neither shared weights nor norms without), AdamW, noise 1. A ratio is one of medians of steps in one
round; the medians of the rounds' ratios are printed as JSON, with the times.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
VOCABULARY, CONTEXT, BATCH = 66, 64, 12


def furrow_round(a):
    command = [str(a.bin / "furrowctl"), "bench", "train", "--preset", "char", "--threads", str(a.threads), "--precision", "fp32", "--seconds", str(a.seconds),
               "--clip-per-sample", "1", "--noise-multiplier", "1", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["clipping"]


def opacus_step(clipped):
    import torch
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
    from opacus_reference import DEFAULTS, Gpt
    torch.manual_seed(1)
    model = Gpt({**DEFAULTS, "layers": 4, "heads": 4, "width": 128, "context": CONTEXT, "vocabulary": VOCABULARY, "tied_head": False})
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, VOCABULARY, (BATCH, CONTEXT + 1))
    inputs, labels = tokens[:, :-1].contiguous(), tokens[:, 1:]
    if clipped:
        model = GradSampleModuleFastGradientClipping(model, max_grad_norm=1.0, loss_reduction="mean")
        optimizer = DPOptimizerFastGradientClipping(optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=BATCH, loss_reduction="mean")
        criterion = DPLossFastGradientClipping(model, optimizer, criterion, loss_reduction="mean")

    def step():
        optimizer.zero_grad()
        logits = model(inputs)
        flat = logits.reshape(-1, VOCABULARY)
        loss = criterion(flat, labels.reshape(-1), shape=logits.shape) if clipped else criterion(flat, labels.reshape(-1))
        loss.backward()
        if not clipped:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return step


def median_ms(step, seconds):
    for _ in range(5):
        step()
    times = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        at = time.perf_counter()
        step()
        times.append(time.perf_counter() - at)
    return statistics.median(times) * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(a.threads)
    steps = {"pytorch_ms": opacus_step(False), "opacus_ms": opacus_step(True)}
    rounds = []
    for _ in range(a.rounds):
        ours = furrow_round(a)
        rounds.append({**ours, **{name: median_ms(step, a.seconds / 3) for name, step in steps.items()}})
    for one in rounds:
        one["opacus_times_pytorch"] = one["opacus_ms"] / one["pytorch_ms"]
        one["opacus_times_ours"] = one["opacus_ms"] / one["clipped_ms"]
    print(json.dumps({name: statistics.median(one[name] for one in rounds) for name in rounds[0]}, indent=1))


if __name__ == "__main__":
    main()
