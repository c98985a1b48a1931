#!/usr/bin/env python3
"""Compares the ids of Furrow's tokenizers with those of tiktoken, tokenizers and sentencepiece.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/tokenizer_compare.py build/dev/bin/tokenizer_ids [--megabytes 10] [--text FILE ...]
        [--json tokenizer.json ...] [--ranks FILE.tiktoken ...] [--only WORD]

Always: the bundled GPT-2 against tiktoken and tokenizers, and small tokenizers made here (Llama-2, Llama-3 and Qwen2
classes, other splits, sentencepiece). --json and --ranks add files, for example those inside the packages litellm and
dashscope. --text adds files to the generated mix. Broken UTF-8 must only survive the round trip where the vocabulary
is byte-level. Exit code 1 when anything differs.
"""
import argparse
import base64
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import sentencepiece
import tiktoken
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPT2_JSON = ROOT / "resources/tokenizers/gpt2/tokenizer.json"
GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
CL100K_PATTERN = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
LLAMA3_PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN_PATTERN = LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")
O200K_PATTERN = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
RANK_PATTERNS = {50256: GPT2_PATTERN, 50280: GPT2_PATTERN, 100256: CL100K_PATTERN, 199998: O200K_PATTERN, 151643: QWEN_PATTERN}


class Furrow:
    """One running tokenizer_ids."""

    def __init__(self, program, tokenizer, special=False):
        command = [program, str(tokenizer)] + (["special"] if special else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _counted(self, size):
        (count,) = struct.unpack("<I", self.process.stdout.read(4))
        return self.process.stdout.read(count * size)

    def ask(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        ids = self._counted(4)
        return list(struct.unpack(f"<{len(ids) // 4}I", ids)), self._counted(1)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit("tokenizer_ids failed")


def bundled_ranks():
    alphabet = {}
    extra = 0
    for b in range(256):
        itself = 33 <= b <= 126 or 161 <= b <= 172 or b >= 174
        alphabet[chr(b if itself else 256 + extra)] = b
        extra += not itself
    vocabulary = json.loads(GPT2_JSON.read_text(encoding="utf-8"))["model"]["vocab"]
    return {bytes(alphabet[c] for c in token): i for token, i in vocabulary.items() if i != 50256}


ENGLISH = ("the of and to in is that it was for on are as with his they at be this from I have or by one had not but what "
           "all were when we there can an your which their said if do will each about how up out them then she many some "
           "so these would other into has more her two like him see time could no make than first been its who now people "
           "I'll you've DON'T she'd it's THEY'RE We'Ve o'clock rock'n'roll").split()
SCRIPTS = [(0x4E00, 0x9FFF), (0x3040, 0x30FF), (0xAC00, 0xD7A3), (0x0400, 0x04FF), (0x0370, 0x03FF), (0x0600, 0x06FF),
           (0x0900, 0x097F), (0x0E00, 0x0E7F), (0x1F300, 0x1FAFF), (0x00A0, 0x024F), (0x0300, 0x036F), (0x2000, 0x206F),
           (0x2070, 0x218F), (0x1E00, 0x1FFF), (0x20000, 0x2A6DF), (0xE000, 0xE0FF), (0x10000, 0x10FFFF)]
CODE = ["if (x) {\n", "\t\treturn a[i] += 0x1F;\n", "    ", "}\r\n", "// comment", "def f(self):\n        ", "==", "->", "\n\n\n",
        "std::vector<int>", "'", "''", '"""', "\\n", "#include", "$x->y", "<div class='a'>", "&nbsp;", "e\u0301", "\u00a0\u00a0"]


def word(r):
    kind = r.random()
    if kind < 0.5:
        return r.choice(ENGLISH)
    if kind < 0.6:
        return "".join(r.choice("abcdefghijklmnopqrstuvwxyzABCDEFG'-") for _ in range(r.randint(1, 14)))
    if kind < 0.68:
        return str(r.randint(0, 10 ** r.randint(1, 12)))
    if kind < 0.78:
        return r.choice(CODE)
    low, high = r.choice(SCRIPTS)
    return "".join(chr(r.randint(low, high)) for _ in range(r.randint(1, 8)))


def mixed_text(r, size):
    out = []
    length = 0
    while length < size:
        piece = word(r) + r.choice([" "] * 12 + ["", "", "  ", "\n", "\r\n", "\t", "   \n ", "\u3000", "\u2028", ", ", ".", "'s ", "'\u017F"])
        out.append(piece)
        length += len(piece.encode())
    return "".join(out)


def any_characters(r, size):
    return "".join(chr(c) for c in (r.randint(0, 0x10FFFF) if r.random() < 0.4 else r.randint(0, 0x2FF) for _ in range(size))
                   if not 0xD800 <= c <= 0xDFFF)


PATHOLOGICAL = ["", " ", "\n", "'", "a\r\nb", "   x", "x   ", "x\u00a0\u00a0y", "I'LL I'll", "x\u00b2", "e\u0301", "x\n  ", " \n \n ",
                "a" * 5000, " " * 5000, "\n" * 3000, "'" * 3000, "ab" * 4000, "0" * 3001, "\u4e2d" * 3000, "\U0001F600" * 2000,
                "\t \t" * 1500, "=" * 4097, "aA" * 3000, "\u0301" * 2000, "a\u0301" * 2000, " a" * 3000, "\r\n" * 2000, "x" * 63,
                "x" * 64, "x" * 65, "<|endoftext|>", "a<|endoftext|> b", "\u2581a \u2581", "\0\0\0", "\ufeffx", "\u00c5\u212b",
                "\ufb01 \u1e9b\u0323", "\u017f's'\u017f'S", "\U00010D4A\U000105C0\U0001E5D0", "\u0378\u0380", "1\u00bd2\u0663\u2460",
                "\u180e \u0085\u200b\u2060", "".join(chr(c) for c in range(0x3000)), "".join(chr(c) for c in range(0x1FFF0, 0x2FFFF, 7))]


def samples(args):
    r = random.Random(11)
    for text in PATHOLOGICAL:
        yield text
    for path in args.text:
        text = path.read_text(encoding="utf-8")
        for i in range(0, len(text), 20000):
            yield text[i : i + 20000]
    size = 0
    while size < args.megabytes * 1e6:
        text = any_characters(r, 300) if r.random() < 0.1 else mixed_text(r, r.choice([5, 50, 500, 5000, 20000]))
        size += len(text.encode())
        yield text


def broken(r):
    for _ in range(1500):
        text = bytearray(mixed_text(r, 200).encode())
        for _ in range(r.randint(1, 20)):
            text[r.randrange(len(text))] = r.randrange(256)
        yield bytes(text)
    for size in [1, 2, 3, 15, 16, 17, 100, 5000]:
        for _ in range(20):
            yield bytes(r.randrange(256) for _ in range(size))


def compare(args, name, file, reference, exact_round_trip, special=False, texts=None):
    furrow = Furrow(args.program, file, special)
    size = different = lost = count = 0
    for text in texts if texts is not None else samples(args):
        data = text.encode()
        ids, back = furrow.ask(data)
        expected = reference(text)
        size += len(data)
        count += len(ids)
        if ids != expected:
            different += 1
            if different <= 3:
                at = next((i for i, (a, b) in enumerate(zip(ids, expected)) if a != b), min(len(ids), len(expected)))
                print(f"  {name}: {text[:60]!r}: at {at} {ids[at:at + 8]}, reference {expected[at:at + 8]}")
        if exact_round_trip and back != data:
            lost += 1
    if exact_round_trip:
        for data in broken(random.Random(5)):
            size += len(data)
            if furrow.ask(data)[1] != data:
                lost += 1
    furrow.close()
    print(f"{'ok ' if not different + lost else 'BAD'} {name}: {size / 1e6:.1f} MB, {count} ids, {different} samples differ, {lost} not given back")
    return different + lost == 0


def without_special_texts(tokenizer):
    """The same with ids that no text can become: the library finds the texts of special tokens in the vocabulary, even where it is told not to match them."""
    definition = json.loads(tokenizer.to_str())
    model = definition["model"]
    if model["type"] == "BPE":
        return tokenizer
    hidden = {t["content"]: f"\U000F0000{t['id']}" for t in definition["added_tokens"] if t["special"] and not t["content"].startswith("<0x")}
    if model["type"] == "Unigram":
        model["vocab"] = [[hidden.get(piece, piece), score] for piece, score in model["vocab"]]
    else:
        model["vocab"] = {hidden.get(piece, piece): i for piece, i in model["vocab"].items()}
        model["unk_token"] = hidden.get(model["unk_token"], model["unk_token"])
    definition["added_tokens"] = [t | {"content": hidden.get(t["content"], t["content"])} for t in definition["added_tokens"]]
    definition["post_processor"] = None
    return tokenizers.Tokenizer.from_str(json.dumps(definition))


def hf_reference(file, special):
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    if not special:
        tokenizer = without_special_texts(tokenizer)
    tokenizer.encode_special_tokens = not special
    tokenizer.no_truncation()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def is_lossless(file):
    document = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    normalizer = document.get("normalizer")
    plain = not normalizer or normalizer.get("normalizers") == []
    text = json.dumps(document.get("pre_tokenizer"))
    strips = any(token.get("lstrip") or token.get("rstrip") for token in document["added_tokens"])
    return plain and not strips and "ByteLevel" in text and '"add_prefix_space": true' not in text and "Removed" not in text


def byte_level(pre_tokenizer, normalizer=None, **options):
    tokenizer = tokenizers.Tokenizer(models.BPE(**options))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def split_then_bytes(pattern, behaviour="isolated", invert=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behaviour, invert),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def made_here(folder, size=2000):
    """Small tokenizers of each class, trained with the tokenizers library."""
    corpus = [mixed_text(random.Random(3), 400_000)]
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
    kinds = {
        "gpt2-class": byte_level(plain),
        "prefix-space": byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True)),
        "llama3-class": byte_level(split_then_bytes(LLAMA3_PATTERN), ignore_merges=True),
        "qwen2-class": byte_level(split_then_bytes(QWEN_PATTERN), normalizers.NFC()),
        "o200k-class": byte_level(split_then_bytes(O200K_PATTERN)),
        "nfkc": byte_level(plain, normalizers.NFKC()),
        "digits": byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(True), plain])),
        "digit-runs": byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(False), plain])),
        "categories": byte_level(split_then_bytes(r"[\p{Lu}\p{M}]+|\P{L}|[^\s\p{P}\p{S}]+|\s")),
    }
    for behaviour in ["removed", "merged_with_previous", "merged_with_next", "contiguous"]:
        kinds["split-" + behaviour] = byte_level(split_then_bytes(r"\p{N}|[ a]", behaviour))
    kinds["split-inverted"] = byte_level(split_then_bytes(r"\p{L}+", "removed", True))
    for name, tokenizer in kinds.items():
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|endoftext|>"], show_progress=False,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        tokenizer.train_from_iterator(corpus, trainer)
        if name == "gpt2-class":
            tokenizer.add_tokens([tokenizers.AddedToken("one had", single_word=True, normalized=False),
                                  tokenizers.AddedToken("about", lstrip=True, rstrip=True), "0x1F"])
        tokenizer.save(str(folder / f"{name}.json"))
        yield name, folder / f"{name}.json"
    for name, fallback, unknown, scheme in [("llama2-class", True, "<unk>", "first"), ("unknown-fused", False, "<unk>", "always")]:
        tokenizer = tokenizers.Tokenizer(models.BPE(unk_token=unknown, fuse_unk=True, byte_fallback=fallback))
        if fallback:
            tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
        special = ["<unk>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
        words = [w for line in corpus for w in line.split("\n")][:3000]
        tokenizer.train_from_iterator(words, trainers.BpeTrainer(vocab_size=size, special_tokens=special, limit_alphabet=size // 5, show_progress=False))
        document = json.loads(tokenizer.to_str())
        document["added_tokens"] = document["added_tokens"][:3]
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        yield name, folder / f"{name}.json"


def sentencepiece_models(folder):
    few = "".join(c for c in mixed_text(random.Random(4), 600_000) if c in "\n " or 32 <= ord(c) < 0x180)
    (folder / "corpus.txt").write_text(few, encoding="utf-8")
    for kind in ["bpe", "unigram"]:
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "corpus.txt"), model_prefix=str(folder / f"sp-{kind}"), model_type=kind, vocab_size=1500,
            byte_fallback=True, character_coverage=0.99, max_sentence_length=100000, minloglevel=2)
        yield f"sentencepiece {kind}", folder / f"sp-{kind}.model"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--text", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--json", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--ranks", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = []
        gpt2 = tiktoken.Encoding("gpt2", pat_str=GPT2_PATTERN, mergeable_ranks=bundled_ranks(), special_tokens={"<|endoftext|>": 50256})
        cases.append(("gpt2 / tiktoken", GPT2_JSON, gpt2.encode_ordinary, True, False))
        cases.append(("gpt2 / tiktoken, special", GPT2_JSON, lambda text: gpt2.encode(text, allowed_special="all"), True, True))
        cases.append(("gpt2 / tokenizers", GPT2_JSON, hf_reference(GPT2_JSON, False), True, False))
        for label, file in [*made_here(folder), *((f.name, f) for f in args.json)]:
            for special in [False, True]:
                cases.append((label + (", special" if special else ""), file, hf_reference(file, special), is_lossless(file), special))
        for file in args.ranks:
            lines = [line.split() for line in file.read_bytes().splitlines()]
            ranks = {base64.b64decode(a): int(b) for a, b in lines}
            encoding = tiktoken.Encoding(file.name, pat_str=RANK_PATTERNS[len(ranks)], mergeable_ranks=ranks, special_tokens={})
            cases.append((f"{file.name} ({len(ranks)} ranks)", file, encoding.encode_ordinary, True, False))
        for label, file in sentencepiece_models(folder):
            processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
            cases.append((label, file, processor.encode, False, False))
        for label, file, reference, lossless, special in cases:
            if args.only in label:
                good = compare(args, label, file, reference, lossless, special) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
