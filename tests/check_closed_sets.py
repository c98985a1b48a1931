#!/usr/bin/env python3
"""Fails when code asks by text what a closed set of core says (core/base/closed_set.h), so that it is a string again and not its enum: a field named as one
of them, or anything, is compared with a name of a set, or an option lists names by itself (app/closed_option.h)."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
COMPARISON = re.compile(r"(\w+)(?:\(\))?_? [!=]= (?:std::string_view\(|QLatin1String\(|QStringLiteral\()?\"([^\"]*)\"")
FIELDS = set("""architecture positions norm activation schedule precision attention optimizer parallel merge method dataMode chatLoss longSamples duplicates
badFiles parentChunks phase outcome state reason role task format theme language page order action after tokenizer rate""".split())
# Names that are words of other things as well: of settings, of files, of formats that others made. For these the field decides.
COMMON = set("""all auto byte char csv data download dynamic gpt2 jsonl last length linear llama llama3 none off on sample split torch yarn""".split())
NAMES = re.compile(r'ClosedName \{ [\w:]+::\w+, "([^"]+)"')
LISTED = re.compile(r'IsMember\(\{')

sources = [path for room in ("core", "ui", "app") for path in sorted((ROOT / room).rglob("*")) if path.suffix in (".h", ".cpp", ".cu")]
texts = {path: path.read_text(encoding="utf-8") for path in sources}
names = {name for text in texts.values() for name in NAMES.findall(text)}
lines = [(path, number, line) for path, text in texts.items() for number, line in enumerate(text.splitlines(), 1)]
breaches = [(path, number, f"{found[0]} compares the text of a closed set; compare its enum") for path, number, line in lines
            for found in COMPARISON.finditer(line) if found[2] in names and (found[1] in FIELDS or found[2] not in COMMON)]
breaches += [(path, number, "an option lists names by itself; use oneOf") for path, number, line in lines if LISTED.search(line)]
for path, number, what in breaches:
    print(f"{path.relative_to(ROOT)}:{number}: {what}")
for name in sorted(COMMON - names):
    print(f"'{name}' is no name of a closed set any more; take it out of COMMON")
sys.exit(1 if breaches or not COMMON <= names else 0)
