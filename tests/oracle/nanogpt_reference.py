#!/usr/bin/env python3
"""A plain eager PyTorch character GPT with nanoGPT's CPU settings (own code): the other side of the speed comparison.

    python nanogpt_reference.py --data tinyshakespeare.txt --steps 100 --threads 2
Prints one JSON object: milliseconds of each step, tokens per second of the median step, and losses.
"""
import argparse
import json
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads, bias, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, bias=bias), nn.LayerNorm(width, bias=bias)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=bias), nn.Linear(width, width, bias=bias)
        self.up, self.down = nn.Linear(width, 4 * width, bias=bias), nn.Linear(4 * width, width, bias=bias)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(d, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        x = x + self.drop(self.out(y.transpose(1, 2).contiguous().view(b, t, d)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)), approximate=GELU)))

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training)


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, layers, heads, width, bias, dropout):
        super().__init__()
        self.dropout = dropout
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, bias, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width, bias=bias), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.token.weight
        for name, p in self.named_parameters():
            if p.dim() >= 2:
                nn.init.normal_(p, 0.0, 0.02 / math.sqrt(2 * layers) if name.endswith(("out.weight", "down.weight")) else 0.02)

    def forward(self, tokens, labels):
        x = F.dropout(self.token(tokens) + self.position(torch.arange(tokens.shape[1])), self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))


def learning_rate(step, steps, peak=1e-3, floor=1e-4, warmup=100):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    share = min(1.0, (step - warmup) / max(1, steps - warmup))
    return floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * share))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True)
    a.add_argument("--steps", type=int, default=100)
    a.add_argument("--schedule-steps", type=int, default=2000)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--layers", type=int, default=4)
    a.add_argument("--heads", type=int, default=4)
    a.add_argument("--width", type=int, default=128)
    a.add_argument("--context", type=int, default=64)
    a.add_argument("--batch", type=int, default=12)
    a.add_argument("--dropout", type=float, default=0.0)
    a.add_argument("--gelu", default="none", choices=["none", "tanh"], help="none: the exact form, as nanoGPT")
    a.add_argument("--seed", type=int, default=1337)
    a.add_argument("--evaluate", action="store_true", help="validation loss over 200 batches at the end")
    a = a.parse_args()
    global GELU
    GELU = a.gelu
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    text = open(a.data, encoding="utf-8").read()
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(c) for c in text])
    cut = int(0.9 * len(ids))
    train, held_out = ids[:cut], ids[cut:]
    model = Gpt(len(letters), a.context, a.layers, a.heads, a.width, bias=False, dropout=a.dropout)
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))

    def batch(source):
        at = torch.randint(len(source) - a.context, (a.batch,))
        return (torch.stack([source[i:i + a.context] for i in at]), torch.stack([source[i + 1:i + 1 + a.context] for i in at]))

    wall, cpu, losses = [], [], []
    for step in range(a.steps):
        w, c = time.perf_counter(), time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, a.schedule_steps)
        loss = model(*batch(train))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(loss.detach()))
        wall.append((time.perf_counter() - w) * 1e3)
        cpu.append((time.process_time() - c) * 1e3)
    result = {"program": "pytorch " + torch.__version__, "threads": a.threads, "steps": a.steps,
              "ms_median": statistics.median(wall), "ms_best_tenth": statistics.quantiles(wall, n=10)[0] if a.steps > 10 else min(wall),
              "cpu_ms_median": statistics.median(cpu), "cpu_ms_best_tenth": statistics.quantiles(cpu, n=10)[0] if a.steps > 10 else min(cpu),
              "tokens_per_s": a.batch * a.context * 1e3 / statistics.median(wall), "last_loss": statistics.mean(losses[-20:])}
    if a.evaluate:
        model.eval()
        with torch.no_grad():
            torch.manual_seed(7)
            result["validation_loss"] = statistics.mean(float(model(*batch(held_out))) for _ in range(200))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
