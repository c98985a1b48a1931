#!/usr/bin/env python3
"""Trains a tokenizer with `furrowctl tokenizer train`, loads it with the tokenizers library and compares the ids of both on
text that it was not trained on; then `furrowctl tokenize --decode` must give every byte back.

    python tests/oracle/tokenizer_trained.py build/dev/bin/furrowctl

Exit code 77 (skipped) where the tokenizers library is missing, 1 when anything differs.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import tokenizers
except ImportError:
    print("skipped: the tokenizers library is not installed (packaging/requirements-oracle.txt)")
    sys.exit(77)

CTL = sys.argv[1]
random.seed(5)


def words(count):
    stems = ["run", "data", "größe", "中文", "числа", "naïve", "Σ", "it's", "I'LL", "x²", "🙂", "\u0301e"]
    ends = ["", "s", "ing", "er", ".", ",", "\n", "\r\n", "  ", "\u00a0", "12", "345678"]
    return "".join(random.choice(stems) + random.choice(ends) + random.choice([" ", " ", "", "\t"]) for _ in range(count))


def ctl(*arguments):
    done = subprocess.run([CTL, *map(str, arguments)], capture_output=True)
    if done.returncode:
        sys.exit(f"furrowctl {' '.join(map(str, arguments))} failed: {done.stderr.decode()}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "train.txt").write_text("\n".join(words(40) for _ in range(3000)), encoding="utf-8")
    trained = folder / "tokenizer.json"
    ctl("tokenizer", "train", "--data", folder / "train.txt", "--size", 1000, "--out", trained)
    theirs = tokenizers.Tokenizer.from_file(str(trained))
    assert theirs.get_vocab_size() <= 1000
    texts = [words(500) for _ in range(20)] + ["", " ", "\n\n", "a" * 5000, "".join(chr(c) for c in range(32, 0x3000) if not 0xD800 <= c < 0xE000)]
    for index, text in enumerate(texts):
        sample = folder / "sample"
        sample.write_bytes(text.encode())
        ids = json.loads(ctl("tokenize", "--tokenizer", trained, "--ids", sample))
        expected = theirs.encode(text, add_special_tokens=False).ids
        if ids != expected:
            at = next((i for i, (a, b) in enumerate(zip(ids, expected)) if a != b), min(len(ids), len(expected)))
            sys.exit(f"text {index} differs at token {at}: {ids[at:at + 5]} instead of {expected[at:at + 5]}")
    anything = random.randbytes(50_000)  # no UTF-8: must only survive
    for name in ("byte", "gpt2", str(trained)):
        (folder / "bytes").write_bytes(anything)
        (folder / "ids.json").write_bytes(ctl("tokenize", "--tokenizer", name, "--ids", folder / "bytes"))
        if ctl("tokenize", "--tokenizer", name, "--decode", folder / "ids.json") != anything:
            sys.exit(f"{name} does not give every byte back")
print(f"{len(texts)} texts with equal ids; all bytes came back")
