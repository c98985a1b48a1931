#!/usr/bin/env python3
"""Writes core/data/tokenizer/unicode_ranges.inc: the general category of every code point as the reference tokenizers
see it. The table is asked of tiktoken's own regular expressions and checked against the tokenizers library, so that
ids never depend on the Unicode version of the libraries a machine happens to have.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/tokenizer_unicode.py core/data/tokenizer/unicode_ranges.inc
"""
import sys

import tiktoken
from tokenizers import Regex, pre_tokenizers

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
TEXT = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)
BYTES = {bytes([i]): i for i in range(256)}


def matched_by_tiktoken(pattern):
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    return set(encoding.decode_bytes(encoding.encode_ordinary(TEXT)).decode())


def matched_by_tokenizers(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed", True)
    pieces = (split.pre_tokenize_str(TEXT[i : i + 20000]) for i in range(0, len(TEXT), 20000))
    return {c for found in pieces for piece, _ in found for c in piece}


def both(pattern):
    found = matched_by_tiktoken(pattern)
    assert found == matched_by_tokenizers(pattern), f"the two references disagree on {pattern}"
    return found


def main(path):
    category = ["Cn"] * 0x110000
    for name in CATEGORIES:
        for c in both(r"\p{%s}" % name):
            category[ord(c)] = name
    white = sorted(ord(c) for c in both(r"\s"))
    with open(path, "w", encoding="ascii") as out:
        out.write("// Made by tests/oracle/tokenizer_unicode.py; do not edit. First code point of each run and its category.\n")
        out.write(f"// White space of the references: {' '.join('%X' % c for c in white)}\n")
        line, before = [], None
        for c in range(0x110000):
            if category[c] != before:
                before = category[c]
                line.append("{0x%X,%s}," % (c, before))
                if len(line) == 10:
                    out.write(" ".join(line) + "\n")
                    line = []
        out.write(" ".join(line) + "\n")


main(sys.argv[1])
