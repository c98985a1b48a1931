#!/usr/bin/env python3
"""transformers loads what Furrow exported and gives the same logits and token ids; Furrow imports what transformers saved.

    python huggingface_roundtrip.py PROGRAM     PROGRAM is the test helper hf_logits
Exits with 77 (skipped) where transformers is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch

try:
    from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
except ImportError:
    print("transformers is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

TOKENS = [[1, 5, 9, 2, 7, 7, 3, 0], [4, 4, 8, 6, 1, 2, 10, 11]]


def furrow_logits(program, folder):
    """hf_logits imports the folder and prints the logits of TOKENS."""
    text = subprocess.run([program, "logits", folder, json.dumps(TOKENS)], check=True, capture_output=True, text=True).stdout
    return torch.tensor(json.loads(text))


def worst(a, b):
    return float((a - b).abs().max() / b.abs().max())


def main():
    program = sys.argv[1]
    torch.manual_seed(3)
    saved = {
        "gpt2": GPT2LMHeadModel(GPT2Config(vocab_size=29, n_positions=16, n_embd=32, n_layer=2, n_head=4)),
        "llama": LlamaForCausalLM(LlamaConfig(vocab_size=29, max_position_embeddings=16, hidden_size=32, num_hidden_layers=2, rms_norm_eps=1e-5,
                                              num_attention_heads=4, num_key_value_heads=2, intermediate_size=64)),
    }
    failed = False
    for name, model in saved.items():
        with tempfile.TemporaryDirectory() as folder:
            source, export = str(pathlib.Path(folder) / "theirs"), str(pathlib.Path(folder) / "ours")
            model.eval().save_pretrained(source)
            with torch.no_grad():
                expected = model(torch.tensor(TOKENS)).logits
            into = worst(furrow_logits(program, source), expected)
            subprocess.run([program, "copy", source, export], check=True)
            with torch.no_grad():
                back = worst(AutoModelForCausalLM.from_pretrained(export).eval()(torch.tensor(TOKENS)).logits, expected)
            print(f"{name}: imported logits differ by {into:.1e}, exported ones by {back:.1e}")
            failed = failed or not (into < 1e-4 and back < 1e-4)
    for name in ("byte", "char"):
        with tempfile.TemporaryDirectory() as folder:
            ours = json.loads(subprocess.run([program, "tokenizer", name, folder], check=True, capture_output=True, text=True).stdout)
            theirs = AutoTokenizer.from_pretrained(folder)
            same = theirs(ours["text"]).input_ids == ours["ids"] and theirs.decode(ours["ids"]) == ours["text"] and theirs.eos_token_id == ours["end"]
            print(f"tokenizer {name}: {'the same ids and text' if same else 'differs'}")
            failed = failed or not same
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
