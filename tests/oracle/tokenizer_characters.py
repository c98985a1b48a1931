#!/usr/bin/env python3
"""Writes core/data/tokenizer/reference_characters.inc: the sets of characters that the components of the tokenizers library test for, asked of the library
itself (its parts are of several Unicode versions), as runs of code points.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/tokenizer_characters.py core/data/tokenizer/reference_characters.inc
"""
import pathlib
import sys

from tokenizers import normalizers, pre_tokenizers

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
CHUNKS = ["".join(CHARACTERS[i : i + 5000]) for i in range(0, len(CHARACTERS), 5000)]


def dropped_by(split):
    return {c for chunk in CHUNKS for c in set(chunk) - {c for piece, _ in split.pre_tokenize_str(chunk) for c in piece}}


def removed_by(normalizer):
    return {c for c in CHARACTERS if normalizer.normalize_str(c) == ""}


def word():
    split = pre_tokenizers.Whitespace()
    return {c for c in CHARACTERS if [piece for piece, _ in split.pre_tokenize_str("a" + c)] == ["a" + c]}


def scripts():
    """A number for each script, 0 for the characters that join any (or belong to no script at all)."""
    split = pre_tokenizers.UnicodeScripts()
    count = lambda text: len(split.pre_tokenize_str(text))
    joins = lambda a, c, b: [piece for piece, _ in split.pre_tokenize_str(a + c + b)] == [a + c, b]
    known, found, last = [], {}, 0
    for c in CHARACTERS:
        if joins("a", c, "\u044f") and joins("\u044f", c, "a"):
            found[c] = 0
            continue
        order = ([last] if last else []) + [i for i in range(1, len(known) + 1) if i != last]
        last = next((i for i in order if count(known[i - 1] + c) == 1), 0)
        if not last:
            known.append(c)
            last = len(known)
        found[c] = last
    return found


def runs(values):
    """(first, last, value) of consecutive code points with one value that is not 0."""
    out = []
    for c in CHARACTERS:
        value = values(c)
        if out and out[-1][1] == ord(c) - 1 and out[-1][2] == value:
            out[-1][1] = ord(c)
        else:
            out.append([ord(c), ord(c), value])
    return [tuple(run) for run in out if run[2]]


def table(out, type_name, name, rows):
    out.append(f"constexpr {type_name} {name}[] = {{")
    out += ["    " + " ".join(rows[i : i + 10]) for i in range(0, len(rows), 10)]
    out.append("};")


def lowercase():
    """(first, last, step, difference, second): every step-th code point of the run becomes itself + difference, and `second` is added behind it."""
    lower, out = normalizers.Lowercase(), []
    for c in CHARACTERS:
        small = lower.normalize_str(c)
        if small == c:
            continue
        assert 1 <= len(small) <= 2
        row = [ord(c), ord(c), 1, ord(small[0]) - ord(c), ord(small[1]) if len(small) == 2 else 0]
        before = out[-1] if out else None
        step = ord(c) - before[1] if before else 0
        if before and before[3:] == row[3:] and row[4] == 0 and step in (1, 2) and (before[0] == before[1] or before[2] == step):
            before[1], before[2] = ord(c), step
        else:
            out.append(row)
    return out


def main(target):
    bert = lambda **settings: normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **settings})
    sets = {
        "kPunctuation": dropped_by(pre_tokenizers.Punctuation("removed")),
        "kNonspacing": removed_by(bert(strip_accents=True)),
        "kControls": removed_by(bert(clean_text=True)),
        "kCombining": removed_by(normalizers.StripAccents()),
        "kWord": word(),
    }
    spaces = dropped_by(pre_tokenizers.WhitespaceSplit())
    print("white space:", sorted("%X" % ord(c) for c in spaces))
    out = ["// Made by tests/oracle/tokenizer_characters.py; do not edit. Runs of code points: first, last."]
    for name, members in sets.items():
        table(out, "CodePointRun", name, ["{0x%X, 0x%X}," % run[:2] for run in runs(lambda c: c in members)])
        print(name, len(members))
    found = scripts()
    table(out, "ScriptRun", "kScripts", ["{0x%X, 0x%X, %d}," % run for run in runs(lambda c: found[c])])
    table(out, "LowerRun", "kLower", ["{0x%X, 0x%X, %d, %d, 0x%X}," % tuple(row) for row in lowercase()])
    target.write_text("\n".join(out) + "\n", encoding="ascii")


main(pathlib.Path(sys.argv[1]))
