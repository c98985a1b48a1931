#!/usr/bin/env python3
"""Straightforward PyTorch GPT in float32 that trains the cases below for 20 steps and prints what happened as JSON.

Weights and tokens come from an integer formula (see pattern()), so the C++ side makes the same ones without reading any file.
    python gpt_reference.py > gpt_vectors.json
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

from reference_common import fill_pattern, pattern_tokens, train, tensor_digest

CASES = [
    {"name": "gpt2", "model": {}, "optimizer": {"kind": "adamw"}},
    {"name": "gpt2-untied-nobias", "model": {"tied_head": False, "bias": False}, "optimizer": {"kind": "adamw"}, "accumulate": 2, "masked": 5},
    {"name": "llama", "model": {"positions": "rope", "norm": "rmsnorm", "activation": "swiglu", "kv_heads": 2, "bias": False, "tied_head": False},
     "optimizer": {"kind": "adamw"}, "schedule": "linear"},
    {"name": "atan2", "model": {}, "optimizer": {"kind": "adamatan2"}, "schedule": "wsd"},
    {"name": "sgd", "model": {}, "optimizer": {"kind": "sgd"}, "schedule": "constant", "peak_lr": 0.05, "clip": 0.5},
    {"name": "moe", "model": {"moe_experts": 4, "moe_active": 2}, "optimizer": {"kind": "adamw"}},
    {"name": "ema", "model": {}, "optimizer": {"kind": "adamw"}, "ema": 0.9},
    {"name": "lora", "model": {"lora_rank": 4, "lora_alpha": 6.0}, "optimizer": {"kind": "adamw"}},
    {"name": "lora-llama", "model": {"positions": "rope", "norm": "rmsnorm", "activation": "swiglu", "kv_heads": 2, "bias": False, "tied_head": False, "lora_rank": 2},
     "optimizer": {"kind": "sgd"}, "peak_lr": 0.05, "accumulate": 2},
    {"name": "adamw8bit", "model": {}, "optimizer": {"kind": "adamw8bit"}},
]

DEFAULTS = {"layers": 2, "heads": 4, "kv_heads": 0, "width": 32, "ff_width": 0, "context": 16, "vocabulary": 29, "positions": "learned",
            "norm": "layernorm", "activation": "gelu", "bias": True, "tied_head": True, "moe_experts": 0, "moe_active": 2,
            "moe_balance": 0.01, "lora_rank": 0, "lora_alpha": 0.0}


def ff_width(c):
    if c["ff_width"]:
        return c["ff_width"]
    return -(-(c["width"] * 8 // 3) // 64) * 64 if c["activation"] == "swiglu" else 4 * c["width"]


def shapes(c):
    d, f = c["width"], ff_width(c)
    kv = (c["kv_heads"] or c["heads"]) * d // c["heads"]
    up = 2 * f if c["activation"] == "swiglu" else f
    out = [("embed.weight", (c["vocabulary"], d))]
    if c["positions"] == "learned":
        out.append(("positions.weight", (c["context"], d)))

    def norm(name):
        out.append((name + ".weight", (d,)))
        if c["norm"] == "layernorm" and c["bias"]:
            out.append((name + ".bias", (d,)))

    def dense(name, o, i):
        out.append((name + ".weight", (o, i)))
        if c["bias"]:
            out.append((name + ".bias", (o,)))

    for i in range(c["layers"]):
        b = f"blocks.{i}."
        norm(b + "norm1")
        dense(b + "attention.qkv", d + 2 * kv, d)
        dense(b + "attention.out", d, d)
        norm(b + "norm2")
        if c["moe_experts"]:
            out += [(b + "moe.router.weight", (c["moe_experts"], d)), (b + "moe.up.weight", (c["moe_experts"], up, d)),
                    (b + "moe.down.weight", (c["moe_experts"], d, f))]
        else:
            dense(b + "mlp.up", up, d)
            dense(b + "mlp.down", d, f)
    norm("norm")
    if not c["tied_head"]:
        out.append(("head.weight", (c["vocabulary"], d)))
    return out


def lora_shapes(c):
    out = []
    for name, shape in shapes(c):
        if name.startswith("blocks.") and len(shape) == 2:
            layer = "lora." + name.removesuffix(".weight")
            out += [(layer + ".a", (c["lora_rank"], shape[1])), (layer + ".b", (shape[0], c["lora_rank"]))]
    return out


def dense(c, p, name, x):
    y = F.linear(x, p[name + ".weight"], p.get(name + ".bias"))
    if c["lora_rank"]:
        scale = (c["lora_alpha"] or 2 * c["lora_rank"]) / c["lora_rank"]
        y = y + scale * F.linear(F.linear(x, p["lora." + name + ".a"]), p["lora." + name + ".b"])
    return y


def norm(c, p, name, x):
    if c["norm"] == "rmsnorm":
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * p[name + ".weight"]
    return F.layer_norm(x, (c["width"],), p[name + ".weight"], p.get(name + ".bias"), 1e-5)


def rotate(x):
    t, d = x.shape[-2:]
    inv = 1.0 / (1e4 ** (torch.arange(0, d, 2).float() / d))
    a = torch.outer(torch.arange(t).float(), inv)
    cos, sin = torch.cat([a, a], -1).cos(), torch.cat([a, a], -1).sin()
    h = d // 2
    return x * cos + torch.cat([-x[..., h:], x[..., :h]], -1) * sin


def attention(c, p, b, x):
    n, k = c["heads"], c["kv_heads"] or c["heads"]
    batch, t, width = x.shape
    hd = width // n
    q, key, v = dense(c, p, b + "qkv", x).split([width, k * hd, k * hd], -1)
    q, key, v = (z.view(batch, t, -1, hd).transpose(1, 2) for z in (q, key, v))
    if c["positions"] == "rope":
        q, key = rotate(q), rotate(key)
    key, v = (z.repeat_interleave(n // k, 1) for z in (key, v))
    s = q @ key.transpose(-1, -2) / math.sqrt(hd)
    s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf)
    y = (s.softmax(-1) @ v).transpose(1, 2).reshape(batch, t, width)
    return dense(c, p, b + "out", y)


def activate(c, up):
    if c["activation"] == "swiglu":
        g, u = up.chunk(2, -1)
        return F.silu(g) * u
    return F.gelu(up, approximate="tanh")


def moe(c, p, b, x):
    """Token by token, choice by choice, in plain loops."""
    e, a = c["moe_experts"], c["moe_active"]
    flat = x.reshape(-1, x.shape[-1])
    probabilities = F.linear(flat, p[b + "moe.router.weight"]).softmax(-1)
    gates, chosen = probabilities.topk(a, -1)
    gates = gates / gates.sum(-1, keepdim=True)
    out = [torch.zeros_like(flat[0]) for _ in flat]
    for token in range(len(flat)):
        for choice in range(a):
            expert = int(chosen[token, choice])
            hidden = activate(c, p[b + "moe.up.weight"][expert] @ flat[token])
            out[token] = out[token] + gates[token, choice] * (p[b + "moe.down.weight"][expert] @ hidden)
    routed = F.one_hot(chosen, e).float().sum(1).mean(0) / a
    return torch.stack(out).view(x.shape), (routed * probabilities.mean(0)).sum() * e


def forward(c, p, tokens):
    x = p["embed.weight"][tokens]
    balance = torch.zeros(())
    if c["positions"] == "learned":
        x = x + p["positions.weight"][: tokens.shape[1]]
    for i in range(c["layers"]):
        b = f"blocks.{i}."
        x = x + attention(c, p, b + "attention.", norm(c, p, b + "norm1", x))
        y = norm(c, p, b + "norm2", x)
        if c["moe_experts"]:
            y, layer_balance = moe(c, p, b, y)
            balance = balance + layer_balance
        else:
            y = dense(c, p, b + "mlp.down", activate(c, dense(c, p, b + "mlp.up", y)))
        x = x + y
    return F.linear(norm(c, p, "norm", x), p["embed.weight"] if c["tied_head"] else p["head.weight"]), balance


def main():
    torch.set_num_threads(1)
    results = []
    for case in CASES:
        c = {**DEFAULTS, **case["model"]}
        p = fill_pattern(shapes(c))
        trained = p
        if c["lora_rank"]:
            trained = fill_pattern(lora_shapes(c))
            p = {**{name: w.detach() for name, w in p.items()}, **trained}

        def loss_sum(step, micro):
            tokens, labels = pattern_tokens(step, micro, 3, c["context"], c["vocabulary"], case.get("masked", 0))
            logits, balance = forward(c, p, tokens)
            loss = F.cross_entropy(logits.view(-1, c["vocabulary"]), labels.view(-1), ignore_index=-1, reduction="sum")
            count = int((labels != -1).sum())
            return loss, count, c["moe_balance"] * balance * count if c["moe_experts"] else None

        first, _ = forward(c, p, pattern_tokens(0, 0, 3, c["context"], c["vocabulary"], 0)[0])
        record = {"name": case["name"], "model": c, "training": {k: v for k, v in case.items() if k not in ("name", "model")},
                  "logits": tensor_digest(first.detach())}
        record.update(train(case, trained, loss_sum))
        results.append(record)
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
