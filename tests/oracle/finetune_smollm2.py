#!/usr/bin/env python3
"""A real model is taught: SmolLM2-135M-Instruct, LoRA on 100 conversations with document masks, a worker killed on the way; what comes out is loaded by transformers.

    python finetune_smollm2.py FURROWCTL HF_LOGITS
About three minutes of one core. Exits with 77 (skipped) where the wheel of packaging/oracle-env.sh, transformers or gguf is missing.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"  # threads that wait for each other at every operator stand still on a busy machine

import torch
import torch.nn.functional as F

from gguf_smollm2 import call, check_logits, extract, reference, t

TOLERANCE = 1e-4
ANIMALS = ["cat", "dog", "owl", "fox", "cow", "hen", "pig", "bee", "ant", "bat", "elk", "emu"]
PLACES = ["harbour", "forest", "market", "garden", "desert", "castle", "island", "valley", "tavern", "lagoon"]
TRAINING = "--lora-rank 8 --lr 0.001 --min-lr 0.0001 --warmup-steps 5 --seq-len 256 --batch-size 2 --epochs 1 --chunk-samples 25 --held-out-percent 10 --eval-steps 10 --checkpoint-steps 4 --workers 1 --devices cpu:1 --threads 1 --max-restarts 0".split()


def conversation(animal, place):
    answer = f"Arr, matey! The {animal} o' the {place} be sleepin' under the old mast, says I."
    return [{"role": "user", "content": f"Where is the {animal} of the {place}?"}, {"role": "assistant", "content": answer}]


def write(path, pairs):
    path.write_text("".join(json.dumps({"messages": conversation(*pair)}) + "\n" for pair in pairs))
    return path


def loss_one_by_one(model, tokenizer, pairs):
    """Each conversation alone; what the assistant writes counts."""
    total, count = 0.0, 0
    for pair in pairs:
        messages = conversation(*pair)
        text = [tokenizer.apply_chat_template(part, tokenize=False, add_generation_prompt=asked) for part, asked in ((messages, False), (messages[:1], True))]
        ids, asked = (tokenizer(one, add_special_tokens=False).input_ids for one in text)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        losses = F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")[len(asked) - 1:]
        total, count = total + float(losses.sum()), count + len(losses)
    return total / count, count


def check_loss(furrowctl, place, model, tokenizer, pairs, folder):
    """Windows of several conversations, kept apart, against one after the other."""
    wanted, count = loss_one_by_one(model, tokenizer, pairs)
    got = call(furrowctl, "eval", place, "--data", write(folder / "other.jsonl", pairs), "--threads", 1, "--json")
    print(f"{place.name}: loss of {got['tokens']} tokens of answers is {got['loss']:.6f}, one by one {wanted:.6f}", flush=True)
    if got["tokens"] != count or abs(got["loss"] - wanted) > TOLERANCE * wanted:
        raise RuntimeError("the loss differs")
    return got["loss"]


def status(furrowctl, run):
    return call(furrowctl, "status", run, "--json")


def train_and_kill(furrowctl, model, data, run):
    """A worker is killed between two checkpoints; the run ends, as it may not start another one, and goes on when it is told to."""
    command = [furrowctl, "run", "--init-from", model, "--data", data, "--out", run, *TRAINING]
    training = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while training.poll() is None:
        time.sleep(0.2)
        if not (run / "run.json").exists():
            continue
        workers = [one for one in status(furrowctl, run)["workers"] if one["alive"] and one.get("step", 0) >= 6]
        if workers:
            os.kill(workers[0]["pid"], signal.SIGKILL)
            break
    said = training.communicate()[0]
    if training.returncode == 0:
        raise RuntimeError(f"the run ended before a worker could be killed: {said[-500:]}")
    print(f"killed at step {workers[0]['step']}", flush=True)
    call(furrowctl, "resume", run, "--max-restarts", "5")


def check_audit(furrowctl, run):
    audit = call(furrowctl, "audit", run, "--deep", "--json")
    counts = {key: [epoch[key] for epoch in audit["epochs"]] for key in ("expected", "committed", "duplicated", "missing")}
    print(f"audit: {audit['verdict']}; {counts}", flush=True)
    if not audit["clean"] or not audit["weights_inspected"] or counts != {"expected": [4], "committed": [4], "duplicated": [0], "missing": [0]}:
        raise RuntimeError("the audit is not clean")
    if status(furrowctl, run)["attempt"] != 2:
        raise RuntimeError("nothing was resumed")


def check_card(folder, loss):
    card = (folder / "README.md").read_text()
    if "is in order" not in card or "| 1 | 4 | 4 | 0 | 0 |" not in card or f"{loss:.4f} nats" not in card or str(folder.parent) in card:
        raise RuntimeError(f"the model card says\n{card}")


def check_answer(furrowctl, place, model, tokenizer):
    asked = conversation("yak", "harbour")[0]["content"]
    got = call(furrowctl, "sample", place, "--chat", asked, "--temperature", "0", "--tokens", "40", "--threads", 1, "--json")
    ids = tokenizer.apply_chat_template([{"role": "user", "content": asked}], add_generation_prompt=True, return_tensors="pt", return_dict=True)
    with torch.no_grad():
        out = model.generate(**ids, max_new_tokens=40, do_sample=False)
    wanted = tokenizer.decode(out[0, ids["input_ids"].shape[1]:], skip_special_tokens=True)
    print(f"{place.name}: {got['text']!r}", flush=True)
    if got["text"] != wanted:
        raise RuntimeError(f"transformers writes {wanted!r}")
    return got["text"]


def main():
    furrowctl, program = sys.argv[1:3]
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    pairs = [(animal, place) for place in PLACES for animal in ANIMALS]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = extract(folder)
        run, out, out_gguf = folder / "run", folder / "taught", folder / "taught.gguf"
        try:
            model, tokenizer = reference(path)
            before = check_loss(furrowctl, path, model, tokenizer, pairs[100:110], folder)
            train_and_kill(furrowctl, path, write(folder / "chats.jsonl", pairs[:100]), run)
            check_audit(furrowctl, run)
            call(furrowctl, "export", run, "--format", "huggingface", "--out", out)
            check_card(out, status(furrowctl, run)["evaluation"]["loss"])
            call(furrowctl, "export", run, "--format", "gguf", "--type", "f16", "--out", out_gguf)
            taught = t.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32).eval()
            check_logits(program, out, taught, t.AutoTokenizer.from_pretrained(out))
            after = check_loss(furrowctl, out, taught, t.AutoTokenizer.from_pretrained(out), pairs[100:110], folder)
            if after > before / 2:
                raise RuntimeError(f"the loss of what was held out fell from {before:.3f} to {after:.3f} only")
            if not check_answer(furrowctl, out, taught, tokenizer).startswith("Arr, matey!"):
                raise RuntimeError("it does not answer as it was taught")
            again, again_tokenizer = reference(out_gguf)
            check_logits(program, out_gguf, again, again_tokenizer)
            check_loss(furrowctl, out_gguf, again, again_tokenizer, pairs[100:110], folder)
        except RuntimeError as error:
            print(f"failed: {error}")
            sys.exit(1)
    print(f"the loss fell from {before:.3f} to {after:.3f}")


if __name__ == "__main__":
    main()
