#!/usr/bin/env python3
"""Makes resources/tokenizers/gpt2/tokenizer.json of OpenAI's encoder.json and vocab.bpe (MIT licence): the same
vocabulary and merges, in the one format that Furrow and the tokenizers library read.

    python tests/oracle/tokenizer_gpt2_json.py FOLDER resources/tokenizers/gpt2/tokenizer.json
"""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
vocabulary = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
lines = (folder / "vocab.bpe").read_text(encoding="utf-8").splitlines()
merges = [line for line in lines if line and not line.startswith("#version")]
assert len(vocabulary) == 50257 and len(merges) == 50000
byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
special = {"id": 50256, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": True}
document = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special], "normalizer": None,
    "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
              "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
              "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])), "merges": merges},
}
text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
pathlib.Path(sys.argv[2]).write_text(text + "\n", encoding="utf-8")
