#!/usr/bin/env python3
"""Straightforward PyTorch transcription of the hierarchical reasoning model (docs: core/train/model/hrm_torch.h; arXiv 2506.21734):
deep supervision with halting, 20 optimiser steps in float32. Exploration is off, everything else as in training.
    python hrm_reference.py > hrm_vectors.json
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

from reference_common import STEPS, fill_pattern, learning_rate, make_optimizer, pattern_tokens, tensor_digest

DEFAULTS = {"width": 32, "heads": 4, "context": 12, "vocabulary": 13, "positions": "rope", "high_layers": 1, "low_layers": 2,
            "high_cycles": 2, "low_cycles": 2, "expansion": 4, "max_segments": 3, "causal": True, "stablemax": False,
            "exact_reward": False, "pool_last": False}
CASES = [
    {"name": "text", "model": {}, "optimizer": {"kind": "adamw"}},
    {"name": "puzzle", "model": {"causal": False, "stablemax": True, "exact_reward": True, "high_cycles": 1, "low_cycles": 3},
     "optimizer": {"kind": "adamatan2"}},
    {"name": "learned-positions", "model": {"positions": "learned", "pool_last": True, "max_segments": 1}, "optimizer": {"kind": "adamw"}, "masked": 4},
]
BATCH = 3


def ff_width(c):
    return math.ceil(round(c["expansion"] * c["width"] * 2 / 3) / 256) * 256


def shapes(c):
    d, f = c["width"], ff_width(c)
    out = [("embed.weight", (c["vocabulary"], d))]
    if c["positions"] == "learned":
        out.append(("positions.weight", (c["context"], d)))
    for module in ("low", "high"):
        for i in range(c[module + "_layers"]):
            b = f"{module}.blocks.{i}."
            out += [(b + "attention.qkv.weight", (3 * d, d)), (b + "attention.out.weight", (d, d)),
                    (b + "mlp.up.weight", (2 * f, d)), (b + "mlp.down.weight", (d, f))]
    return out + [("head.weight", (c["vocabulary"], d)), ("halt.weight", (2, d)), ("halt.bias", (2,)),
                  ("start.high", (d,)), ("start.low", (d,))]


def rms(x):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def rotate(x):
    t, d = x.shape[-2:]
    a = torch.outer(torch.arange(t).float(), 1.0 / 1e4 ** (torch.arange(0, d, 2).float() / d))
    cos, sin = torch.cat([a, a], -1).cos(), torch.cat([a, a], -1).sin()
    return x * cos + torch.cat([-x[..., d // 2:], x[..., : d // 2]], -1) * sin


def block(c, p, b, x):
    n, t, d = x.shape
    q, k, v = (z.view(n, t, c["heads"], -1).transpose(1, 2) for z in F.linear(x, p[b + "attention.qkv.weight"]).split(d, -1))
    if c["positions"] == "rope":
        q, k = rotate(q), rotate(k)
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if c["causal"]:
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf)
    y = (s.softmax(-1) @ v).transpose(1, 2).reshape(n, t, d)
    x = rms(x + F.linear(y, p[b + "attention.out.weight"]))
    g, u = F.linear(x, p[b + "mlp.up.weight"]).chunk(2, -1)
    return rms(x + F.linear(F.silu(g) * u, p[b + "mlp.down.weight"]))


def module(c, p, name, z, injected):
    z = z + injected
    for i in range(c[name + "_layers"]):
        z = block(c, p, f"{name}.blocks.{i}.", z)
    return z


def segment(c, p, carry, tokens):
    x = p["embed.weight"][tokens]
    if c["positions"] == "learned":
        x = (x + p["positions.weight"][: tokens.shape[1]]) / math.sqrt(2)
    x = x * math.sqrt(c["width"])
    high, low = carry
    with torch.no_grad():
        for i in range(1, c["high_cycles"] + 1):
            for j in range(1, c["low_cycles"] + 1):
                if not (i == c["high_cycles"] and j == c["low_cycles"]):
                    low = module(c, p, "low", low, high + x)
            if i != c["high_cycles"]:
                high = module(c, p, "high", high, low)
    low = module(c, p, "low", low, high + x)
    high = module(c, p, "high", high, low)
    pooled = high[:, -1] if c["pool_last"] else high.mean(1)
    q = F.linear(pooled, p["halt.weight"], p["halt.bias"])
    return (high.detach(), low.detach()), F.linear(high, p["head.weight"]), q[:, 0], q[:, 1]


def log_probabilities(c, logits):
    if not c["stablemax"]:
        return logits.log_softmax(-1)
    x = logits.double()
    s = torch.where(x >= 0, x.clamp(min=0) + 1, 1 / (1 - x.clamp(max=0)))
    return torch.log(s / s.sum(-1, keepdim=True))


def next_row(index, c, masked):
    tokens, labels = pattern_tokens(index, 0, 1, c["context"], c["vocabulary"], masked)
    return (tokens[0], tokens[0].clone() if not c["causal"] else labels[0])


def main():
    torch.set_num_threads(1)
    results = []
    for case in CASES:
        c = {**DEFAULTS, **case["model"]}
        p = fill_pattern(shapes(c))
        trained = {k: v for k, v in p.items() if not k.startswith("start.")}
        optimizer = make_optimizer(case["optimizer"], trained)
        most, rows = c["max_segments"], 0
        carry = tuple(torch.zeros(BATCH, c["context"], c["width"]) for _ in range(2))
        steps, halted = torch.zeros(BATCH, dtype=torch.long), torch.ones(BATCH, dtype=torch.bool)
        data = [None] * BATCH
        losses, norms, halts, first = [], [], [], None
        for step in range(STEPS):
            for i in range(BATCH):
                if halted[i]:
                    data[i] = next_row(rows, c, case.get("masked", 0))
                    rows += 1
            tokens, labels = torch.stack([d[0] for d in data]), torch.stack([d[1] for d in data])
            fresh = halted[:, None, None]
            carry = (torch.where(fresh, p["start.high"].detach(), carry[0]), torch.where(fresh, p["start.low"].detach(), carry[1]))
            steps = torch.where(halted, 0, steps)
            for w in p.values():
                w.grad = None
            carry, logits, q_halt, q_continue = segment(c, p, carry, tokens)
            first = logits.detach().clone() if first is None else first
            real = labels != -1
            count = real.sum(1)
            token_loss = -log_probabilities(c, logits).gather(-1, labels.clamp(min=0)[..., None])[..., 0] * real
            right = (logits.argmax(-1) == labels) & real
            reward = (right.sum(1) == count).float() if c["exact_reward"] else right.sum(1) / count
            steps = steps + 1
            halted = steps >= most
            halting = F.binary_cross_entropy_with_logits(q_halt, reward, reduction="none")
            if most > 1:
                halted = halted | (q_halt.detach() > q_continue.detach())
                with torch.no_grad():
                    _, _, h, k = segment(c, p, carry, tokens)
                    target = torch.sigmoid(torch.where(steps >= most, h, torch.maximum(h, k)))
                halting = halting + F.binary_cross_entropy_with_logits(q_continue, target, reduction="none")
            (token_loss.sum(1) / count + 0.5 * halting).sum().div(BATCH).backward()
            losses.append(float(token_loss.detach().sum() / count.sum()))
            norms.append(float(torch.nn.utils.clip_grad_norm_(trained.values(), 1.0)))
            halts.append([int(x) for x in halted])
            optimizer.step(learning_rate("cosine", step, float(step), 3e-3, 3e-4, 4, float(STEPS)))
        results.append({"name": case["name"], "model": c, "training": {k: v for k, v in case.items() if k not in ("name", "model")},
                        "logits": tensor_digest(first), "losses": losses, "norms": norms, "halted": halts,
                        "weights": {k: tensor_digest(v) for k, v in trained.items()}})
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
