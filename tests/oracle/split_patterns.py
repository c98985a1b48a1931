#!/usr/bin/env python3
"""Writes tests/core/tokenizer/split_patterns.json: what the tokenizers library makes of each text with each pattern, for tst_split_patterns.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/split_patterns.py tests/core/tokenizer/split_patterns.json
"""
import json
import pathlib
import sys

from tokenizers import Regex, pre_tokenizers
from tokenizer_texts import ODD, SCRIPTS

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
NOT_HAN = "&&[^\\p{Han}]"
UPPER, LOWER = "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}", "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"


def cased(inside):
    return [rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}{inside}]*[{LOWER}{inside}]+{CONTRACTIONS}?", rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}{inside}]+[{LOWER}{inside}]*{CONTRACTIONS}?"]


TAIL = [r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"]
PATTERNS = [
    # of published tokenizers: GPT-2, cl100k, Llama 3, Qwen 2, o200k, Kimi K2, DeepSeek V3 and LLM, Tekken, BLOOM, Falcon, GLM, StarCoder, Grok, ModernBERT, MPT
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "|".join([*cased(""), r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", *TAIL]),
    "|".join([r"[\p{Han}]+", *cased(NOT_HAN), r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", *TAIL]),
    r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕ]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", r"[一-龥ࠀ-一가-퟿]+", r"[\r\n]",
    "|".join([r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+", r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*", r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", *TAIL]),
    r" ?[^(\s|[.,!?…。，、।۔،])]+", r"[0-9][0-9][0-9]", r"(\d+)", r" {2,}", r" ?\p{L}+| ?[^\s\p{L}]+|\s+",
    # the features that another engine reads otherwise
    r"[\w&&[^\d]]+", r"[a-z&&[^aeiou]]+", r"[\p{L}&&[^\p{Latin}\p{Greek}]]+", r"[a-w&&[^c-g]&&[a-u]]+", r"[^a-z&&[a-c]]+", r"[[a-c][x-z]]+", r"[a[b[c]]]+", r"[^[a-z]]+", r"[\[\]&]+", r"[&&a]+",
    r"\w+", r"\W+", r"\d+", r"\D+", r"\s+", r"\S+", r"\h+", r"\H+", r"\b", r"\b\w", r"\w+\b", r"\B\w", r"(?<=\w)\b", r"\b(?!\d)\w+", r"\R", r"\X", r"\X{2}", r"\y", r"\N+", r"\O", r"(?m:.+)",
    r"^", r"$", r"^.", r".$", r"^\s*\w+", r"\w+$", r"\A.", r".\z", r".\Z", r"\G\w", r".", r".+", r"(?m:.)+", r"\n?",
    r"[[:alpha:]]+", r"[[:^alpha:]]+", r"[[:punct:]]+", r"[^[:punct:]]+", r"[[:punct:]&&[^.]]+", r"[[:alnum:]_]+", r"[[:upper:]]+", r"[[:lower:]]+", r"[[:space:]]+", r"[[:digit:]]+", r"[[:xdigit:]]+", r"[[:word:]]+", r"[[:graph:]]+", r"[[:print:]]+", r"[[:cntrl:]]+", r"[[:blank:]]+", r"[[:ascii:]]+",
    r"\p{Han}+", r"\p{Hani}+", r"\p{^Han}+", r"\P{Han}+", r"[\p{Hiragana}\p{Katakana}ー]+", r"\p{Hangul}|\p{Thai}", r"\p{Arabic}+|\p{Hebrew}+|\p{Devanagari}+", r"\p{Latin}+", r"[^\p{Latin}\p{Common}]+", r"\p{Letter}+", r"\p{Alphabetic}+", r"\p{Emoji}", r"\p{Lu}\p{Ll}*", r"\p{L}\p{M}*", r"\p{Mn}", r"\p{Sc}\p{Nd}+", r"\p{Zs}+", r"\p{Cf}", r"\p{Unknown}+",
    r"(?i)straße|ǆ|σ", r"(?i:k)|(?i:å)", r"(?i)[a-z]+", r"a(?i)b|c", r"(?i)\p{Lu}+", r"(?i:'S|'LL)", r"(?x) \p{L} + # words", r"(?<year>\d{4})", r"(?:a|ab)(?:c|bcd)?", r"(?>a+)b|a", r"a++|[b-z]*+", r"a{,2}", r"\w{2,3}?", r"x*", r"", r"|a", r"(?=[A-Z])", r"(?<=[a-z])(?=[A-Z])", r"(?<!\S)\S", r"(?<=\p{L}{1,3}) ", r"(?~ab)", r"\x{4e00}|\u3042|[\x{3040}-\x{30ff}]+", r"[\x{1F300}-\x{1FAFF}]+", r"\t|\r\n|\u00a0", r"'|\"|`", r"(?<!\d)\d{1,3}(?=(?:\d{3})+\b)|\d{1,3}",
]


def texts():
    chosen = [t for t in ODD if len(t) <= 80] + [t[:48] for t in SCRIPTS.values()]
    return [t for t in chosen if t]


def main(target):
    tried = texts()
    rows = []
    for pattern in dict.fromkeys(PATTERNS):
        split = pre_tokenizers.Split(Regex(pattern), "isolated", False)
        rows.append({"pattern": pattern, "pieces": [" ".join(str(len(piece)) for piece, _ in split.pre_tokenize_str(text)) for text in tried]})
    target.write_text(json.dumps({"texts": tried, "patterns": rows}, separators=(",", ":")) + "\n", encoding="utf-8")
    print(len(rows), "patterns,", len(tried), "texts")


main(pathlib.Path(sys.argv[1]))
