#!/usr/bin/env python3
"""The mixture-of-experts block of transformers' Mixtral on weights and inputs of the integer formula: output and gradients as JSON.

    python mixtral_reference.py > mixtral_vectors.json
Exits with 77 (skipped) where transformers is missing.
"""
import json
import sys

import torch

from reference_common import fill_pattern, pattern, tensor_digest

try:
    from transformers import MixtralConfig
    from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock
except ImportError:
    print("transformers is not installed (run packaging/oracle-env.sh): skipped", file=sys.stderr)
    sys.exit(77)

CASES = [{"experts": 4, "active": 2}, {"experts": 8, "active": 2}, {"experts": 4, "active": 1}, {"experts": 4, "active": 4}]
BATCH, LENGTH, WIDTH, INNER = 3, 16, 32, 64


def shaped(salt, *shape):
    count = 1
    for size in shape:
        count *= size
    return torch.tensor([pattern(i, salt) for i in range(count)], dtype=torch.float64).to(torch.float32).view(shape)


def main():
    torch.set_num_threads(1)
    results = []
    for case in CASES:
        weights = fill_pattern([("router", (case["experts"], WIDTH)), ("up", (case["experts"], 2 * INNER, WIDTH)), ("down", (case["experts"], WIDTH, INNER))])
        block = MixtralSparseMoeBlock(MixtralConfig(hidden_size=WIDTH, intermediate_size=INNER, num_local_experts=case["experts"],
                                                    num_experts_per_tok=case["active"], experts_implementation="eager")).float().eval()
        with torch.no_grad():
            block.gate.weight.copy_(10 * weights["router"])  # far apart, so that rounding picks no other expert
            block.experts.gate_up_proj.copy_(weights["up"])
            block.experts.down_proj.copy_(weights["down"])
        x = shaped(7, BATCH, LENGTH, WIDTH).requires_grad_(True)
        out = block(x)
        out = out[0] if isinstance(out, tuple) else out
        (out * shaped(8, BATCH, LENGTH, WIDTH)).sum().backward()
        results.append({**case, "batch": BATCH, "length": LENGTH, "width": WIDTH, "inner": INNER, "output": tensor_digest(out), "gradients": {
            "input": tensor_digest(x.grad), "router": tensor_digest(block.gate.weight.grad),
            "up": tensor_digest(block.experts.gate_up_proj.grad), "down": tensor_digest(block.experts.down_proj.grad)}})
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
