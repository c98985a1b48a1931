#!/usr/bin/env python3
"""Norms of the gradients of single samples, their clipped sum and a step, by Opacus, on small models whose weights and tokens
are those of gpt_reference.py. Prints JSON; exits with 77 where Opacus is not installed.
    python opacus_reference.py > opacus_vectors.json
    python opacus_reference.py --check opacus_vectors.json      are these, with which tst_per_sample compares, still Opacus' numbers?

Opacus refuses weights that two layers share, so heads are untied here; tied ones are compared with a loop over single samples in tst_per_sample.
"""
import json
import math
import sys
import warnings

try:
    import torch
    import torch.nn.functional as F
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer
except ImportError as missing:
    print(f"{missing.name} is not installed", file=sys.stderr)
    sys.exit(77)

from gpt_reference import DEFAULTS, activate, ff_width, rotate, shapes
from reference_common import fill_pattern, pattern_tokens, tensor_digest

CASES = [
    {"name": "gpt2", "model": {"tied_head": False}, "clip": 2.7, "masked": 0},
    {"name": "gpt2-masked", "model": {"tied_head": False, "vocabulary": 61}, "clip": 3.1, "masked": 5},
    {"name": "llama", "model": {"positions": "rope", "norm": "rmsnorm", "activation": "swiglu", "kv_heads": 2, "bias": False, "tied_head": False},
     "clip": 2.25, "masked": 0},
    {"name": "llama-long", "model": {"positions": "rope", "norm": "rmsnorm", "activation": "swiglu", "bias": False, "tied_head": False, "context": 80},
     "clip": 1.065, "masked": 7},
]
SAMPLES = 6
RATE = 0.1


class Gpt(torch.nn.Module):
    """The model of gpt_reference.py of the modules that Opacus knows."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        d, f, bias = c["width"], ff_width(c), c["bias"]
        kv = (c["kv_heads"] or c["heads"]) * d // c["heads"]
        self.parts = torch.nn.ModuleDict()

        def add(name, module):
            self.parts[name.replace(".", "/")] = module

        def norm(name):
            add(name, torch.nn.RMSNorm(d, eps=1e-5) if c["norm"] == "rmsnorm" else torch.nn.LayerNorm(d, eps=1e-5, bias=bias))

        add("embed", torch.nn.Embedding(c["vocabulary"], d))
        if c["positions"] == "learned":
            add("positions", torch.nn.Embedding(c["context"], d))
        for i in range(c["layers"]):
            b = f"blocks.{i}."
            norm(b + "norm1")
            add(b + "attention.qkv", torch.nn.Linear(d, d + 2 * kv, bias))
            add(b + "attention.out", torch.nn.Linear(d, d, bias))
            norm(b + "norm2")
            add(b + "mlp.up", torch.nn.Linear(d, 2 * f if c["activation"] == "swiglu" else f, bias))
            add(b + "mlp.down", torch.nn.Linear(f, d, bias))
        norm("norm")
        add("head", torch.nn.Linear(d, c["vocabulary"], False))

    def part(self, name, x):
        return self.parts[name.replace(".", "/")](x)

    def attention(self, b, x):
        n, k = self.c["heads"], self.c["kv_heads"] or self.c["heads"]
        batch, t, width = x.shape
        hd = width // n
        q, key, v = self.part(b + "qkv", x).split([width, k * hd, k * hd], -1)
        q, key, v = (z.view(batch, t, -1, hd).transpose(1, 2) for z in (q, key, v))
        if self.c["positions"] == "rope":
            q, key = rotate(q), rotate(key)
        key, v = (z.repeat_interleave(n // k, 1) for z in (key, v))
        s = q @ key.transpose(-1, -2) / math.sqrt(hd)
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf)
        return self.part(b + "out", (s.softmax(-1) @ v).transpose(1, 2).reshape(batch, t, width))

    def forward(self, tokens):
        x = self.part("embed", tokens)
        if self.c["positions"] == "learned":
            x = x + self.part("positions", torch.arange(tokens.shape[1]).expand(tokens.shape).contiguous())
        for i in range(self.c["layers"]):
            b = f"blocks.{i}."
            x = x + self.attention(b + "attention.", self.part(b + "norm1", x))
            x = x + self.part(b + "mlp.down", activate(self.c, self.part(b + "mlp.up", self.part(b + "norm2", x))))
        return self.part("head", self.part("norm", x))


def ours(name):
    return name.removeprefix("_module.").removeprefix("parts.").replace("/", ".")


def check(kept, made, place):
    """Ends the program where two trees of numbers differ by more than another machine's rounding."""
    if isinstance(made, float):
        same = abs(kept - made) <= 1e-5 * max(1.0, abs(made))
    elif isinstance(made, dict):
        same = kept.keys() == made.keys()
        for key in made.keys() & kept.keys():
            check(kept[key], made[key], f"{place}/{key}")
    elif isinstance(made, list):
        same = len(kept) == len(made)
        for i, (before, now) in enumerate(zip(kept, made)):
            check(before, now, f"{place}/{i}")
    else:
        same = kept == made
    if not same:
        sys.exit(f"{place}: {kept} is kept, {made} is what Opacus says")


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    results = []
    for case in CASES:
        c = {**DEFAULTS, **case["model"]}
        model = Gpt(c)
        weights = fill_pattern(shapes(c))
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(weights.pop(ours(name)))
        assert not weights
        wrapped = GradSampleModule(model, loss_reduction="sum")
        optimizer = DPOptimizer(torch.optim.SGD(wrapped.parameters(), lr=RATE), noise_multiplier=0.0, max_grad_norm=case["clip"],
                                expected_batch_size=SAMPLES, loss_reduction="mean")
        tokens, labels = pattern_tokens(0, 0, SAMPLES, c["context"], c["vocabulary"], case["masked"])
        logits = wrapped(tokens)
        losses = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-1, reduction="none")
        learnt = (labels != -1).sum(1)
        (losses.sum(1) / learnt).sum().backward()
        norms = torch.stack([p.grad_sample.flatten(1).double().norm(dim=1) for p in wrapped.parameters()]).norm(dim=0)
        optimizer.pre_step()
        gradients = {ours(name): tensor_digest(p.grad) for name, p in wrapped.named_parameters()}
        optimizer.original_optimizer.step()
        results.append({"name": case["name"], "model": c, "clip": case["clip"], "masked": case["masked"], "samples": SAMPLES, "rate": RATE,
                        "loss": float(losses.detach().sum()), "norms": norms.tolist(), "gradients": gradients,
                        "weights": {ours(name): tensor_digest(p) for name, p in wrapped.named_parameters()}})
        if not 0 < sum(n > case["clip"] for n in norms.tolist()):
            sys.exit(f"{case['name']}: no sample is clipped, norms {norms.tolist()}")
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="utf-8") as file:
            check(json.load(file), results, "")
        print(f"{len(results)} models have the same numbers as {sys.argv[2]}")
    else:
        json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
