#!/usr/bin/env python3
"""Every component of the tokenizers library that text models use: ids and decoded texts of Furrow and of the library, on 200 texts in 30 scripts.

    python tests/oracle/tokenizer_components.py build/dev/bin/tokenizer_ids [--json tokenizer.json ...]
    python tests/oracle/tokenizer_components.py --write tests/core/tokenizer/components.json

The second form writes the same tokenizers, with a part of the texts, for tst_tokenizer_components. Exit code 77 (skipped) where the library is missing, 1
when anything differs.
"""
import argparse
import base64
import json
import pathlib
import random
import struct
import sys
import tempfile

try:
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError:
    print("skipped: the tokenizers library is not installed (packaging/requirements-oracle.txt)")
    sys.exit(77)

from tokenizer_texts import ODD, SCRIPTS, texts

N, P, D = normalizers, pre_tokenizers, decoders
CORPUS = texts() * 2 + ["the of and to in is that it was for on are as with his they at be this from I have or by one had not but what all were when we there"] * 20
UNK = "[UNK]"


class DoubleArray:
    """A charsmap as sentencepiece packs it: a darts-clone array (every node at a place of its own) of what is replaced, and the texts that come for it."""

    def __init__(self, replacements):
        self.units, self.used, self.texts = [0] * 65536, {0}, b""
        tree = {}
        for old, new in replacements.items():
            node = tree
            for byte in old.encode():
                node = node.setdefault(byte, {})
            node[-1] = len(self.texts)
            self.texts += new.encode() + b"\0"
        self.place(0, tree, 0)
        size = max(self.used) + 256
        self.packed = struct.pack("<I", size * 4) + struct.pack(f"<{size}I", *self.units[:size]) + self.texts

    def place(self, at, node, label):
        children = [0 if byte == -1 else byte for byte in node]
        offset = next(o for o in range(1, 65000) if not any((at ^ o ^ c) in self.used or (at ^ o ^ c) >= 65000 for c in children))
        self.units[at] = offset << 10 | (0x100 if -1 in node else 0) | label
        self.used |= {at ^ offset ^ c for c in children}
        for byte, child in node.items():
            if byte == -1:
                self.units[at ^ offset] = 0x80000000 | child
            else:
                self.place(at ^ offset ^ byte, child, byte)


CHARSMAP = DoubleArray({"\u00a0": " ", "\u3000": " ", "\ufb01": "fi", "\uff21": "A", "\uff42": "b", "e\u0301": "\u00e9", "\u0301": "", "\u200b": "", "\u00bd": "1\u20442", "\r\n": " ", "\t": " ", "\u2460": "1", "\u1100\u1161": "\uac00", "\u212b": "\u00c5", "\ufeff": "", "\u3392": "MHz"}).packed


def trained(model, trainer, normalizer=None, pre_tokenizer=None, decoder=None, added=()):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens(list(added))
    return tokenizer


def bpe(size=260, special=(UNK,), unk=UNK, prefix=None, suffix=None, alphabet=(), **parts):
    options = {key: parts.pop(key) for key in ("byte_fallback", "fuse_unk", "ignore_merges") if key in parts}
    affixes = {**({"continuing_subword_prefix": prefix} if prefix else {}), **({"end_of_word_suffix": suffix} if suffix else {})}
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), limit_alphabet=400 if alphabet else 120, initial_alphabet=list(alphabet), show_progress=False, **affixes)
    return trained(models.BPE(unk_token=unk, **options, **affixes), trainer, **parts)


def wordpiece(size=300, prefix="##", **parts):
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=[UNK, "[CLS]", "[SEP]", "[MASK]", "[PAD]"], limit_alphabet=110, continuing_subword_prefix=prefix, show_progress=False)
    return trained(models.WordPiece(unk_token=UNK, continuing_subword_prefix=prefix), trainer, **parts)


def wordlevel(size=160, **parts):
    return trained(models.WordLevel(unk_token=UNK), trainers.WordLevelTrainer(vocab_size=size, special_tokens=[UNK], show_progress=False), **parts)


def unigram(byte_fallback=False, normalizer=None, pre_tokenizer=None, decoder=None, added=()):
    """The pieces of a byte-pair training with scores drawn by chance: the trainer's own are not the same in every run."""
    learned = bpe(normalizer=normalizer, pre_tokenizer=pre_tokenizer, special=[])
    r = random.Random(7)
    pieces = sorted(learned.get_vocab(), key=lambda piece: (len(piece), piece))
    vocabulary = [("<unk>", 0.0), ("</s>", 0.0)] + [(piece, round(-12 + 1.5 * len(piece) - r.random() * 3, 4)) for piece in pieces]
    vocabulary += [(f"<0x{byte:02X}>", -20.0) for byte in range(256)] if byte_fallback else []
    tokenizer = Tokenizer(models.Unigram(vocabulary, 0, byte_fallback))
    for part, value in ("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer), ("decoder", decoder):
        if value is not None:
            setattr(tokenizer, part, value)
    tokenizer.add_special_tokens(["<unk>", "</s>"])
    tokenizer.add_tokens(list(added))
    return tokenizer


def spaces(pattern):
    return P.Split(Regex(pattern), "isolated")


META = "\u2581"


def made():
    meta = lambda **kw: {"pre_tokenizer": P.Metaspace(**kw), "decoder": D.Metaspace(**{k: v for k, v in kw.items()})}
    llama = D.Sequence([D.Replace(META, " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    special = [AddedToken("<mask>", lstrip=True, special=True), AddedToken("don't", single_word=True), AddedToken("Word", normalized=True, rstrip=True), AddedToken("\u2581one", normalized=False)]
    alphabet = P.ByteLevel.alphabet()
    # models
    yield "bert", wordpiece(normalizer=N.BertNormalizer(), pre_tokenizer=P.BertPreTokenizer(), decoder=D.WordPiece(), added=special)
    yield "bert-cased", wordpiece(normalizer=N.BertNormalizer(lowercase=False, clean_text=False), pre_tokenizer=P.BertPreTokenizer(), decoder=D.WordPiece(cleanup=False))
    yield "bert-accents", wordpiece(normalizer=N.BertNormalizer(strip_accents=False, handle_chinese_chars=False), pre_tokenizer=P.Whitespace(), decoder=D.WordPiece())
    yield "wordpiece-prefix", wordpiece(prefix="@@", normalizer=N.NFKC(), pre_tokenizer=P.WhitespaceSplit(), decoder=D.WordPiece(prefix="@@"))
    yield "wordlevel", wordlevel(normalizer=N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]), pre_tokenizer=P.Whitespace())
    yield "unigram", unigram(normalizer=N.Sequence([N.Precompiled(CHARSMAP), N.Strip(left=False, right=True), N.Replace(Regex(" {2,}"), META)]), **meta(prepend_scheme="first"))
    yield "unigram-bytes", unigram(byte_fallback=True, normalizer=N.Nmt(), pre_tokenizer=P.Metaspace(), decoder=D.Sequence([D.ByteFallback(), D.Metaspace()]), added=special)
    yield "unigram-albert", unigram(normalizer=N.Sequence([N.Replace("``", '"'), N.Replace("''", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(), N.Precompiled(CHARSMAP)]),
                                    pre_tokenizer=P.Sequence([P.WhitespaceSplit(), P.Metaspace()]), decoder=D.Metaspace())
    yield "bpe-suffix", bpe(suffix="</w>", normalizer=N.BertNormalizer(), pre_tokenizer=P.BertPreTokenizer(), decoder=D.BPEDecoder("</w>"))
    yield "bpe-prefix", bpe(prefix="##", fuse_unk=True, pre_tokenizer=P.WhitespaceSplit(), decoder=D.WordPiece())
    yield "bpe-llama", bpe(special=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], unk="<unk>", size=480, byte_fallback=True, fuse_unk=True,
                           normalizer=N.Sequence([N.Prepend(META), N.Replace(" ", META)]), decoder=llama)
    yield "bpe-gemma", bpe(special=["<unk>"] + [f"<0x{b:02X}>" for b in range(0, 256, 2)], unk="<unk>", size=400, byte_fallback=True, fuse_unk=False, ignore_merges=True,
                           normalizer=N.Replace(" ", META), pre_tokenizer=P.Split(" ", "merged_with_previous"), decoder=D.Sequence([D.Replace(META, " "), D.ByteFallback(), D.Fuse()]))
    yield "bpe-no-unknown", bpe(special=[], unk=None, pre_tokenizer=P.Whitespace())
    yield "bytes-then-split", bpe(alphabet=alphabet, size=330, pre_tokenizer=P.Sequence([P.ByteLevel(add_prefix_space=False), P.Digits(True)]), decoder=D.ByteLevel())
    yield "bytes-normalizer", bpe(alphabet=alphabet, size=330, normalizer=N.Sequence([N.NFC(), N.ByteLevel()]), pre_tokenizer=spaces(r"\u0120?\p{L}+|."), decoder=D.ByteLevel(), added=special)
    yield "bytes-strip", bpe(alphabet=alphabet, size=330, pre_tokenizer=P.ByteLevel(), decoder=D.Sequence([D.ByteLevel(), D.Strip(" ", 1, 0)]))
    # normalizers, over words: an unknown character shows itself as a hole
    for name, normalizer in {"lowercase": N.Lowercase(), "strip": N.Strip(), "strip-left": N.Strip(right=False), "strip-accents": N.StripAccents(), "nfd": N.NFD(), "nfkd": N.NFKD(), "nmt": N.Nmt(),
                             "replace": N.Replace(Regex(r"[\s&&[^\n]]+"), "_"), "replace-nothing": N.Replace(Regex("(?=[A-Z])"), "^"), "replace-empty": N.Replace(Regex(r"^\s+|[^\w\s]"), ""),
                             "prepend": N.Sequence([N.Strip(), N.Prepend("<<")]), "precompiled": N.Precompiled(CHARSMAP), "bert-clean": N.BertNormalizer(lowercase=False, handle_chinese_chars=False)}.items():
        yield "normalizer-" + name, bpe(size=150, fuse_unk=True, normalizer=normalizer, **meta(prepend_scheme="first", split=False))
    # pre-tokenizers, over bytes: every cut shows itself, since nothing merges over it
    words = {"alphabet": alphabet, "size": 290, "decoder": D.ByteLevel()}
    behaviours = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    cuts = {"whitespace": P.Whitespace(), "whitespace-split": P.WhitespaceSplit(), "bert": P.BertPreTokenizer(), "delimiter": P.CharDelimiterSplit("e"), "fixed": P.FixedLength(3), "scripts": P.UnicodeScripts(),
            "digits": P.Digits(False), "metaspace-never": P.Metaspace(prepend_scheme="never"), "split-inverted": P.Split(Regex(r"\w+"), "removed", invert=True), "split-empty": P.Split("", "isolated")}
    cuts |= {f"punctuation-{b}": P.Punctuation(b) for b in behaviours}
    cuts |= {f"split-{b}": P.Split(Regex(r"x*|[aeiou ]"), b) for b in behaviours}
    for name, cut in cuts.items():
        yield "cut-" + name, bpe(pre_tokenizer=P.Sequence([cut, P.ByteLevel(add_prefix_space=False, use_regex=False)]), **words)


def references(tokenizer):
    """ids without special tokens, ids with them; each of a text."""
    tokenizer.no_truncation()

    def ids(text, special):
        tokenizer.encode_special_tokens = not special
        return tokenizer.encode(text, add_special_tokens=False).ids

    return (lambda text: ids(text, False)), (lambda text: ids(text, True))


def compare(program, name, file, tried):
    from tokenizer_compare import Furrow, without_special_texts

    tokenizer = Tokenizer.from_file(str(file))
    plain, _ = references(without_special_texts(tokenizer))
    _, special = references(tokenizer)
    different = 0
    ours, ours_special = Furrow(program, file), Furrow(program, file, True)
    for text in tried:
        for furrow, reference in (ours, plain), (ours_special, special):
            ids, back = furrow.ask(text.encode())
            expected = reference(text)
            decoded = tokenizer.decode(expected, skip_special_tokens=False)
            if ids != expected or back.decode(errors="replace") != decoded:
                different += 1
                if different <= 3:
                    print(f"  {name}: {text[:70]!r}\n    {ids[:30]}\n    {expected[:30]}\n    {back.decode(errors='replace')[:70]!r}\n    {decoded[:70]!r}")
    ours.close()
    ours_special.close()
    print(f"{'ok ' if not different else 'BAD'} {name}: {different} of {2 * len(tried)} differ")
    return different == 0


def write(target):
    tried = ["", " ", *[t[:40] for t in ODD[2:] if len(t) < 90], *[t[:18] for t in SCRIPTS.values()]]
    rows = []
    for name, tokenizer in made():
        plain, special = references(tokenizer)
        row = {"name": name, "tokenizer": json.loads(tokenizer.to_str()), "ids": [], "special": {}, "decoded": []}
        for number, text in enumerate(tried):
            ids, with_special = plain(text), special(text)
            row["ids"].append(" ".join(map(str, ids)))
            if with_special != ids:
                row["special"][number] = " ".join(map(str, with_special))
            row["decoded"].append(tokenizer.decode(ids, skip_special_tokens=False) if number % 4 == 0 else None)
        rows.append(row)
    target.write_text(json.dumps({"texts": tried, "tokenizers": rows}, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("--json", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.write:
        return write(args.write)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, tokenizer in made():
            if args.only not in name:
                continue
            file = pathlib.Path(folder) / f"{name}.json"
            tokenizer.save(str(file))
            good = compare(args.program, name, file, texts()) and good
    for file in args.json:
        good = compare(args.program, file.parent.name + "/" + file.name, file, texts()) and good
    sys.exit(0 if good else 1)


main()
