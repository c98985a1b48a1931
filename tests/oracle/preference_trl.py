#!/usr/bin/env python3
"""Preferences against trl: a tiny model with fused layers (as Furrow's pairs of LoRA stand beside) learns from 20 pairs for ten steps, by its DPOTrainer and by a run.

    python preference_trl.py FURROWCTL
Losses, margins and shares of each step, and the pairs of LoRA afterwards, for both forms: whole answers (sigmoid) of conversations and by length (sigmoid_norm) of texts.
Exits with 77 (skipped) where trl, peft or transformers is missing.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"  # threads that wait for each other at every operator stand still on a busy machine
os.environ.update({"TRL_EXPERIMENTAL_SILENCE": "1", "WANDB_DISABLED": "true", "HF_HUB_OFFLINE": "1"})

import torch

try:
    import datasets
    import tokenizers
    import transformers as t
    from peft import LoraConfig
    from safetensors.torch import load_file
    from trl import DPOConfig, DPOTrainer
except ImportError as missing:
    print(f"{missing.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

TOLERANCE = 1e-4
STEPS, BATCH, RATE, RANK, SEED, WINDOW = 10, 2, 1e-3, 4, 7, 256
MOST = (WINDOW - 1) // 2  # tokens of an answer with its prompt
LAYERS = {"qkv_proj": "attention.qkv", "o_proj": "attention.out", "gate_up_proj": "mlp.up", "down_proj": "mlp.down"}
CHATML = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"


def write_model(folder):
    """Random weights, larger than an initialisation, and a tokenizer of bytes with a few merges."""
    torch.manual_seed(3)
    characters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("i", "s"), ("Ġ", "a"), ("Ġ", "the")]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {text: i for i, text in enumerate(special + characters + [a + b for a, b in merges])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    fast = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[0], pad_token=special[0])
    fast.chat_template = CHATML
    fast.save_pretrained(folder)
    config = t.Phi3Config(vocab_size=len(vocabulary), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                          max_position_embeddings=WINDOW, original_max_position_embeddings=WINDOW, pad_token_id=0, bos_token_id=0, eos_token_id=0, sliding_window=None)
    model = t.Phi3ForCausalLM(config)
    for name, weight in model.named_parameters():
        weight.data.normal_(1 if weight.dim() == 1 else 0, 0.1 if weight.dim() == 1 else 0.2)
    model.save_pretrained(folder)
    return config


def start_pairs(config):
    """The halves of the pairs as a run with this seed begins: drawn after the weights that they stand beside, and the other halves are 0."""
    width, head, inner = config.hidden_size, config.hidden_size // config.num_attention_heads, config.intermediate_size
    shapes = {"attention.qkv": (width + 2 * config.num_key_value_heads * head, width), "attention.out": (width, width), "mlp.up": (2 * inner, width), "mlp.down": (width, inner)}
    generator = torch.Generator().manual_seed(SEED)
    table = (config.vocab_size, width)
    for shape in [table, *list(shapes.values()) * config.num_hidden_layers, table]:
        torch.empty(shape).normal_(0, 1, generator=generator)
    pairs = {}
    for layer in range(config.num_hidden_layers):
        for name, (_, inputs) in shapes.items():
            pairs[f"{layer}.{name}"] = torch.empty(RANK, inputs).normal_(0, inputs ** -0.5, generator=generator)
    return pairs


def rows(form):
    """Prompts of many lengths, the longest of which cost answers their end."""
    insists = 7 if form == "conversations" else 9
    for i in range(STEPS * BATCH):
        asked = f"Where is the {'very ' * (i % 5)}cat {i}?" + " Is it there?" * (insists if i % 7 == 6 else 0)
        good, bad = "It is at the harbour" + "!" * (i % 4), "No" + " idea" * (i % 6)
        if form == "conversations":
            prompt = [{"role": "user", "content": asked}]
            yield {"prompt": prompt, "chosen": [{"role": "assistant", "content": good}], "rejected": [{"role": "assistant", "content": bad}]}
        else:
            yield {"prompt": asked + "\n", "chosen": good, "rejected": bad}


class Trainer(DPOTrainer):
    """In the order of the data, and each loss with all its digits."""

    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)

    def training_step(self, *arguments, **named):
        loss = super().training_step(*arguments, **named)
        self.losses = [*getattr(self, "losses", []), float(loss)]
        return loss


def train_by_trl(folder, work, config, form, loss, beta):
    settings = DPOConfig(output_dir=str(work / "trl"), loss_type=[loss], beta=beta, max_length=MOST, truncation_mode="keep_start", max_steps=STEPS,
                         per_device_train_batch_size=BATCH, gradient_accumulation_steps=1, learning_rate=RATE, lr_scheduler_type="constant", warmup_steps=0,
                         weight_decay=0.0, adam_beta1=0.9, adam_beta2=0.99, adam_epsilon=1e-8, max_grad_norm=1.0, optim="adamw_torch", bf16=False, fp16=False,
                         use_cpu=True, gradient_checkpointing=False, logging_steps=1, report_to=[], save_strategy="no", disable_tqdm=True, seed=SEED)
    lora = LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules=list(LAYERS), task_type="CAUSAL_LM")
    model = t.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    trainer = Trainer(model=model, args=settings, train_dataset=datasets.Dataset.from_list(list(rows(form))), processing_class=tokenizer, peft_config=lora)
    halves = {}
    for name, weight in trainer.model.named_parameters():
        if "lora_" not in name:
            continue
        layer = name.split(".layers.")[1].split(".")[0]
        own = next(ours for theirs, ours in LAYERS.items() if f".{theirs}." in name)
        halves[f"lora.blocks.{layer}.{own}.{'a' if 'lora_A' in name else 'b'}"] = weight
        weight.data = start_pairs(config)[f"{layer}.{own}"].clone() if "lora_A" in name else torch.zeros_like(weight)
    trainer.train()
    marks = [entry for entry in trainer.state.log_history if "rewards/margins" in entry]
    return {"loss": trainer.losses, "margin": [m["rewards/margins"] for m in marks], "preferred": [m["rewards/accuracies"] for m in marks]}, halves


def furrow(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[1]}: {done.stderr.strip() or done.stdout.strip()}")


def train_by_a_run(furrowctl, folder, work, form, normalise, beta):
    run, data = work / "run", work / "pairs.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(form)))
    furrow(furrowctl, "run", "--init-from", folder, "--data", data, "--out", run, "--objective", "dpo", "--dpo-beta", beta, "--dpo-normalise", normalise,
           "--lora-rank", RANK, "--packing", "single", "--long-samples", "cut", "--shuffle", "false", "--seq-len", WINDOW, "--batch-size", BATCH, "--lr", RATE,
           "--min-lr", RATE, "--schedule", "constant", "--warmup-steps", 0, "--weight-decay", 0, "--beta1", 0.9, "--beta2", 0.99, "--epsilon", 1e-8, "--clip", 1,
           "--seed", SEED, "--held-out-percent", 0, "--epochs", 1, "--workers", 1, "--devices", "cpu:1", "--threads", 1, "--precision", "fp32", "--eval-steps", 0)
    furrow(furrowctl, "audit", run, "--deep")
    furrow(furrowctl, "export", run, "--format", "csv", "--out", work / "csv")
    with open(work / "csv" / "steps.csv", newline="") as file:
        steps = list(csv.DictReader(file))
    newest = max((run / "checkpoints").glob("*/weights.safetensors"), key=lambda file: file.stat().st_mtime)
    return {name: [float(step[name]) for step in steps] for name in ("loss", "margin", "preferred")}, load_file(newest)


def check(furrowctl, folder, config, form, loss, normalise, beta):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        wanted, halves = train_by_trl(folder, work, config, form, loss, beta)
        got, weights = train_by_a_run(furrowctl, folder, work, form, normalise, beta)
    print(f"{form}, {loss}: losses {[round(value, 6) for value in wanted['loss']]}", flush=True)
    for mark, values in wanted.items():
        if len(got[mark]) != STEPS or len(values) != STEPS:
            raise RuntimeError(f"{form}: {len(got[mark])} steps of a run, {len(values)} of trl")
        worst = max(abs(a - b) for a, b in zip(got[mark], values))
        print(f"{form}, {loss}: {mark} differs by {worst:.2e}", flush=True)
        if worst > TOLERANCE * max(1.0, max(map(abs, values))):
            raise RuntimeError(f"{mark} differs: a run has {got[mark]}, trl {values}")
    if set(weights) != set(halves):
        raise RuntimeError(f"the run trains {sorted(set(weights) ^ set(halves))}")
    worst = max(float((weights[name] - half.detach()).abs().max()) for name, half in halves.items())
    print(f"{form}, {loss}: weights differ by {worst:.2e}", flush=True)
    if worst > 10 * TOLERANCE:
        raise RuntimeError("the weights differ")
    if max(wanted["loss"]) - min(wanted["loss"]) < 0.05:
        raise RuntimeError("nothing was learnt, so nothing is compared")


def main():
    t.logging.set_verbosity_error()
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as name:
        config = write_model(name)
        try:
            check(sys.argv[1], name, config, "conversations", "sigmoid", "none", 0.1)
            check(sys.argv[1], name, config, "texts", "sigmoid_norm", "length", 2.0)
        except RuntimeError as error:
            print(f"failed: {error}")
            sys.exit(1)


if __name__ == "__main__":
    main()
