#!/usr/bin/env python3
"""Each family that Furrow reads, against transformers: logits, ten training steps, and the export loaded again.

    python model_families.py PROGRAM [NAME ...]     PROGRAM is the test helper hf_logits; NAMEs of CASES, else all
Exits with 77 (skipped) where transformers is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

try:
    import transformers as t
except ImportError:
    print("transformers is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

TOLERANCE = 1e-4
STEPS, RATE, CLIP = 10, 1e-3, 1.0
BATCH, LENGTH, VOCABULARY = 3, 24, 29

SHAPE = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 64, "pad_token_id": None, "bos_token_id": 3, "eos_token_id": 4}
NEOX = {k: v for k, v in SHAPE.items() if k != "num_key_value_heads"}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 5e3, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
EXPERTS = {"num_experts_per_tok": 2, "output_router_logits": True, "router_aux_loss_coef": 0.02}
GPT2 = {"vocab_size": VOCABULARY, "n_positions": 40, "n_embd": 32, "n_layer": 2, "n_head": 4}


def cases():
    """Name to configuration, and what of its file is written as older programs did."""
    return {
        "gpt2": t.GPT2Config(**GPT2),
        "gpt2-exact-gelu": t.GPT2Config(**GPT2, activation_function="gelu", n_inner=48, tie_word_embeddings=False),
        "llama2": t.LlamaConfig(**SHAPE),
        "llama3.1": t.LlamaConfig(**SHAPE, rope_parameters=LLAMA3),
        "llama3.2-tied-biased": t.LlamaConfig(**SHAPE, rope_parameters=LLAMA3, tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
        "llama-linear": t.LlamaConfig(**SHAPE, rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}),
        "llama-dynamic": t.LlamaConfig(**SHAPE, rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}),
        "llama-yarn": t.LlamaConfig(**SHAPE, rope_parameters=YARN),
        "llama-yarn-mscale": t.LlamaConfig(**SHAPE, rope_parameters={**YARN, "beta_fast": 16, "beta_slow": 2, "mscale": 0.7, "mscale_all_dim": 1.2}),
        "llama-wide-heads": t.LlamaConfig(**SHAPE, head_dim=12),
        "smollm2": t.LlamaConfig(**{**SHAPE, "num_attention_heads": 3, "num_key_value_heads": 1, "hidden_size": 48}, tie_word_embeddings=True),
        "mistral-sliding": t.MistralConfig(**SHAPE, sliding_window=5),
        "mistral": t.MistralConfig(**SHAPE, sliding_window=None, head_dim=16),
        "mixtral": t.MixtralConfig(**SHAPE, num_local_experts=4, **EXPERTS),
        "qwen2": t.Qwen2Config(**SHAPE),
        "qwen2.5-tied-sliding": t.Qwen2Config(**SHAPE, use_sliding_window=True, sliding_window=5, max_window_layers=1, tie_word_embeddings=True),
        "qwen2-experts": t.Qwen2MoeConfig(**SHAPE, num_experts=4, moe_intermediate_size=24, shared_expert_intermediate_size=40, **EXPERTS),
        "qwen3": t.Qwen3Config(**SHAPE, head_dim=16),
        "qwen3-experts": t.Qwen3MoeConfig(**SHAPE, head_dim=16, num_experts=4, moe_intermediate_size=24, norm_topk_prob=True, **EXPERTS),
        "gemma2": t.Gemma2Config(**{**SHAPE, "num_hidden_layers": 4}, head_dim=16, sliding_window=5, query_pre_attn_scalar=24, attn_logit_softcapping=4.0,
                                 final_logit_softcapping=3.0),
        "gemma3": t.Gemma3TextConfig(**{**SHAPE, "num_hidden_layers": 7}, head_dim=16, sliding_window=5, query_pre_attn_scalar=24,
                                     rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                                      "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}),
        "phi3": t.Phi3Config(**SHAPE),
        "phi4-mini": t.Phi3Config(**SHAPE, sliding_window=5, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.75}),
        "smollm3": t.SmolLM3Config(**{**SHAPE, "num_hidden_layers": 5}),
        "olmo2": t.Olmo2Config(**SHAPE),
        "pythia": t.GPTNeoXConfig(**NEOX),
        "neox-in-turns": t.GPTNeoXConfig(**NEOX, use_parallel_residual=False, hidden_act="gelu_new", rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}),
    }


def write_as_before(folder):
    """Positions as files of before transformers 5 have them: rope_theta and rope_scaling."""
    path = pathlib.Path(folder) / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["torch_dtype"] = config.pop("dtype")
    if "partial_rotary_factor" in rope:
        config["rotary_pct" if config["model_type"] == "gpt_neox" else "partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if config["model_type"] == "gpt_neox":
        config["rotary_emb_base"] = config.pop("rope_theta")
    config["rope_scaling"] = rope if rope["rope_type"] != "default" else None
    path.write_text(json.dumps(config))


def fill(model):
    """Larger than an initialisation, so that no part of the model goes unnoticed."""
    for name, weight in model.named_parameters():
        plus_one = "gemma" in model.config.model_type and "norm" in name
        if weight.dim() >= 2:
            weight.data.normal_(0, 0.25)
        elif name.endswith("weight") and not plus_one:
            weight.data.normal_(1, 0.1)
        else:
            weight.data.normal_(0, 0.1)


def rows():
    return torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1))


def train(model, tokens):
    groups = [{"params": [w for w in model.parameters() if w.dim() >= 2], "weight_decay": 0.1},
              {"params": [w for w in model.parameters() if w.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99), eps=1e-8)
    balanced = getattr(model.config, "output_router_logits", False)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        out = model(tokens[:, :-1])
        loss = F.cross_entropy(out.logits.flatten(0, 1), tokens[:, 1:].flatten())
        losses.append(float(loss.detach()))
        (loss + model.config.router_aux_loss_coef * out.aux_loss if balanced else loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
    return torch.tensor(losses)


def furrow(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"hf_logits ended with {done.returncode}")
    return torch.tensor(json.loads(done.stdout)) if done.stdout else None


def worst(a, b):
    return float((a - b).abs().max() / b.abs().max())


def logits_of(folder, tokens):
    with torch.no_grad():
        return t.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()(tokens).logits


def check(program, name, config, folder):
    """The largest of all differences."""
    torch.manual_seed(len(name))
    config._attn_implementation = "eager"
    model = t.AutoModelForCausalLM.from_config(config).eval()
    fill(model)
    tokens = rows()
    source, trained = folder / "theirs", folder / "trained"
    model.save_pretrained(source, max_shard_size="30KB" if name == "llama2" else "5GB")
    if name == "llama2" and not (source / "model.safetensors.index.json").exists():
        raise RuntimeError("the weights were not cut into several files")
    if name in ("llama3.1", "llama-yarn", "pythia"):
        write_as_before(source)
    with torch.no_grad():
        before = worst(furrow(program, "logits", source, json.dumps(tokens.tolist())), model(tokens).logits)
    losses = train(model, tokens)
    ours = furrow(program, "train", source, trained, json.dumps({"rows": tokens.tolist(), "steps": STEPS, "rate": RATE, "clip": CLIP}))
    with torch.no_grad():
        after = worst(logits_of(trained, tokens), model(tokens).logits)
    kept = [json.loads((place / "config.json").read_text()) for place in (source, trained)]
    changed = [key for key in kept[0] if kept[0][key] != kept[1].get(key)]
    if changed or not (trained / "generation_config.json").exists():
        raise RuntimeError(f"the export changed {changed} of config.json")
    step = worst(ours, losses)
    print(f"{name}: logits differ by {before:.1e}, losses of {STEPS} steps by {step:.1e}, logits of the export by {after:.1e}", flush=True)
    return max(before, step, after)


def check_half(program, kind, folder):
    """Weights stored in half precision are read exactly."""
    torch.manual_seed(5)
    model = t.AutoModelForCausalLM.from_config(t.Qwen2Config(**SHAPE)).eval()
    fill(model)
    model.to(kind).save_pretrained(folder)
    tokens = rows()
    difference = worst(furrow(program, "logits", folder, json.dumps(tokens.tolist())), logits_of(folder, tokens))
    print(f"{kind}: logits differ by {difference:.1e}", flush=True)
    return difference


def main():
    program, wanted = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(1)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    failed = []
    for name, config in cases().items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                if check(program, name, config, pathlib.Path(folder)) > TOLERANCE:
                    failed.append(name)
            except RuntimeError as error:
                print(f"{name}: {error}", flush=True)
                failed.append(name)
    for kind in () if wanted else (torch.bfloat16, torch.float16):
        with tempfile.TemporaryDirectory() as folder:
            if check_half(program, kind, folder) > TOLERANCE:
                failed.append(str(kind))
    print("failed: " + ", ".join(failed) if failed else "all are equal")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
