#!/usr/bin/env python3
"""Writes tests/core/tokenizer/vectors: small tokenizers of each class with the ids that the reference libraries give,
so that the unit tests need no Python.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/tokenizer_vectors.py tests/core/tokenizer/vectors
"""
import json
import pathlib
import random
import sys
import tempfile

import sentencepiece
from tokenizer_compare import PATHOLOGICAL, hf_reference, is_lossless, made_here, mixed_text

KINDS = ["gpt2-class", "prefix-space", "llama3-class", "qwen2-class", "o200k-class", "digits", "categories",
         "split-merged_with_next", "split-removed", "llama2-class", "unknown-fused"]


def texts():
    r = random.Random(21)
    return [t for t in PATHOLOGICAL if len(t) < 400] + ["a" * 100, "\u4e2d" * 70] + [mixed_text(r, 120) for _ in range(25)]


def main(target):
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, file in made_here(folder, 600):
            if kind not in KINDS:
                continue
            plain, special = hf_reference(file, False), hf_reference(file, True)
            cases = [{"text": t, "ids": plain(t), "special": special(t)} for t in texts()]
            document = {"tokenizer": json.loads(file.read_text(encoding="utf-8")), "lossless": is_lossless(file), "cases": cases}
            (target / f"{kind}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
        (folder / "corpus.txt").write_text("".join(c for c in mixed_text(random.Random(4), 200_000) if c in "\n " or 32 <= ord(c) < 0x180), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "corpus.txt"), model_prefix=str(target / "sentencepiece"), model_type="bpe", vocab_size=600,
            byte_fallback=True, character_coverage=0.99, normalization_rule_name="identity", minloglevel=2)
    (target / "sentencepiece.vocab").unlink()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(target / "sentencepiece.model"))
    cases = [{"text": t, "ids": processor.encode(t)} for t in texts()]
    (target / "sentencepiece_cases.json").write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8")


main(pathlib.Path(sys.argv[1]))
