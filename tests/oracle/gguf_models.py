#!/usr/bin/env python3
"""Our GGUF of each architecture: read again by us, by transformers where it knows the architecture, and by the gguf package.

    python gguf_models.py PROGRAM [NAME ...]     PROGRAM is the test helper hf_logits; NAMEs of CASES, else all
Exits with 77 (skipped) where transformers or gguf is missing.
"""
import json
import pathlib
import re
import sys
import tempfile

import torch

try:
    import gguf
    import transformers as t
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint
except ImportError as error:
    print(f"{error.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

from model_families import GPT2, LLAMA3, NEOX, SHAPE, VOCABULARY, fill, furrow, rows, worst

TOLERANCE = 1e-4
WIDE = {**SHAPE, "hidden_size": 64, "intermediate_size": 96}  # whole blocks
LLAMA31 = {**LLAMA3, "original_max_position_embeddings": 8192}
FILE_TYPES = {"f32": 0, "f16": 1, "bf16": 32, "q8_0": 7, "q4_0": 2, "q4_1": 3}  # llama.cpp's names of whole files
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}


def cases():
    """Name to configuration, and whether transformers loads that architecture from a GGUF."""
    return {
        "gpt2": (t.GPT2Config(**{**GPT2, "n_embd": 64, "n_positions": 1024}, bos_token_id=3, eos_token_id=4), True),
        "llama": (t.LlamaConfig(**WIDE), True),
        "llama-tied": (t.LlamaConfig(**WIDE, tie_word_embeddings=True), True),
        "llama-biased": (t.LlamaConfig(**WIDE, attention_bias=True, mlp_bias=True), False),
        "llama3.1": (t.LlamaConfig(**WIDE, rope_parameters=LLAMA31), False),
        "mixtral": (t.MixtralConfig(**WIDE, num_local_experts=4, num_experts_per_tok=2, sliding_window=None), False),
        "qwen2": (t.Qwen2Config(**WIDE), True),
        "qwen2-experts": (t.Qwen2MoeConfig(**WIDE, **EXPERTS, shared_expert_intermediate_size=32), False),
        "qwen3": (t.Qwen3Config(**WIDE, head_dim=128), True),  # transformers leaves the width of its heads out
        "qwen3-experts": (t.Qwen3MoeConfig(**WIDE, head_dim=32, **EXPERTS, norm_topk_prob=True), False),
        "gemma2": (t.Gemma2Config(**WIDE), True),  # transformers leaves caps and window out
        "gemma2-capped": (t.Gemma2Config(**WIDE, head_dim=32, query_pre_attn_scalar=32, sliding_window=5, attn_logit_softcapping=4.0, final_logit_softcapping=3.0), False),
        "gemma3": (t.Gemma3TextConfig(**{**WIDE, "num_hidden_layers": 7}, head_dim=32, query_pre_attn_scalar=32, sliding_window=5,
                                      rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                                       "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}), False),
        "phi3": (t.Phi3Config(**WIDE), True),
        "olmo2": (t.Olmo2Config(**WIDE), False),
        "pythia": (t.GPTNeoXConfig(**{**NEOX, "hidden_size": 64, "intermediate_size": 96}), False),
    }


def write_tokenizer(folder):
    """Byte-pair of bytes with as many ids as the models have rows, but one."""
    letters = "abcdefghijklmnopqrst\u0120"
    vocabulary = {letter: i + 5 for i, letter in enumerate(letters)}
    vocabulary |= {"ab": 26, "\u0120ab": 27}
    special = ["<|endoftext|>", "<|user|>", "<|pad|>", "<|begin|>", "<|end|>"]
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": text != "<|user|>"}
             for i, text in enumerate(special)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None, "pre_tokenizer": byte_level,
                 "post_processor": None, "decoder": byte_level,
                 "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                           "byte_fallback": False, "ignore_merges": False, "vocab": {**{text: i for i, text in enumerate(special)}, **vocabulary},
                           "merges": [["a", "b"], ["\u0120", "ab"]]}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin|>", "eos_token": {"content": "<|end|>"},
                                                              "pad_token": "<|pad|>", "chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}))


def check_package(path, config, kind):
    """What llama.cpp looks for is there, by the names of its own package."""
    reader = gguf.GGUFReader(path)
    said = {key: field.contents() for key, field in reader.fields.items()}
    architecture = said["general.architecture"]
    index = next(a for a, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = {gguf.TENSOR_NAMES[one].replace("{bid}", "N") for one in gguf.MODEL_TENSORS[index]}
    unknown = {tensor.name for tensor in reader.tensors if re.sub(r"blk\.\d+", "blk.N", tensor.name).rsplit(".", 1)[0] not in names}
    wanted = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.bos_token_id": 3, "tokenizer.ggml.eos_token_id": 4,
              "tokenizer.ggml.padding_token_id": 2, f"{architecture}.block_count": config.num_hidden_layers,
              f"{architecture}.vocab_size": VOCABULARY, "general.name": "small", "general.quantization_version": 2, "general.file_type": FILE_TYPES[kind]}
    wrong = [key for key, value in wanted.items() if said.get(key) != value]
    tokens = said["tokenizer.ggml.tokens"]
    if unknown or wrong or len(tokens) != VOCABULARY or tokens[28] != "[PAD28]" or said["tokenizer.ggml.token_type"] != [3, 4, 3, 3, 3] + [1] * 23 + [5]:
        raise RuntimeError(f"unknown tensors {unknown}, wrong metadata {wrong}, tokens {tokens}")
    if "messages" not in said["tokenizer.chat_template"]:
        raise RuntimeError("no chat template")
    if kind.upper() not in {tensor.tensor_type.name for tensor in reader.tensors}:
        raise RuntimeError(f"no tensor is of {kind}")


def logits_by_transformers(path, tokens):
    parsed = load_gguf_checkpoint(path)
    config = t.AutoConfig.for_model(**parsed["config"])
    config._attn_implementation = "eager"
    model = t.AutoModelForCausalLM.from_config(config).eval()
    weights = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)["tensors"]
    missing, unknown = model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=False)
    missing = [name for name in missing if name != "lm_head.weight" or not config.tie_word_embeddings]
    if missing or unknown:
        raise RuntimeError(f"transformers misses {missing}, does not know {unknown}")
    model.tie_weights()
    with torch.no_grad():
        return model(tokens).logits


def check(program, name, config, is_known, folder):
    torch.manual_seed(len(name))
    config._attn_implementation = "eager"
    model = t.AutoModelForCausalLM.from_config(config).eval()
    fill(model)
    tokens = rows()
    source = folder / "theirs"
    model.save_pretrained(source)
    write_tokenizer(source)
    with torch.no_grad():
        theirs = model(tokens).logits
    text = json.dumps(tokens.tolist())
    furrow(program, "gguf", source, folder / "f32.gguf", "f32")
    check_package(folder / "f32.gguf", config, "f32")
    ours, again = (furrow(program, "logits", place, text) for place in (source, folder / "f32.gguf"))
    if not torch.equal(ours, again):
        raise RuntimeError(f"logits of the f32 file differ by {worst(again, ours):.1e} from those of the folder")
    difference = worst(again, theirs)
    if is_known:
        difference = max(difference, worst(logits_by_transformers(folder / "f32.gguf", tokens), theirs))
    losses = []
    for kind in ("bf16", "f16", "q8_0", "q4_1", "q4_0"):
        furrow(program, "gguf", source, folder / f"{kind}.gguf", kind)
        check_package(folder / f"{kind}.gguf", config, kind)
        losses.append(f"{kind} {worst(furrow(program, 'logits', folder / f'{kind}.gguf', text), ours):.0e}")
    again = furrow_fails(program, "gguf", source, folder / "f32.gguf", "f32")
    if "is there already" not in again:
        raise RuntimeError(f"a file was written over: {again}")
    print(f"{name}: f32 as the folder; {'transformers and ' if is_known else ''}ours differ by {difference:.1e} from its own; lost by {', '.join(losses)}", flush=True)
    return difference


def furrow_fails(program, *arguments):
    try:
        furrow(program, *arguments)
    except RuntimeError as error:
        return str(error)
    return "it did not fail"


def main():
    program, wanted = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(1)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    failed = []
    for name, (config, is_known) in cases().items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                if check(program, name, config, is_known, pathlib.Path(folder)) > TOLERANCE:
                    failed.append(name)
            except RuntimeError as error:
                print(f"{name}: {error}", flush=True)
                failed.append(name)
    print("failed: " + ", ".join(failed) if failed else "all are equal")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
