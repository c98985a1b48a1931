#!/usr/bin/env python3
"""Writes the sentences (core/base/sentence.h) in the folders named before the last argument as a C++ file that lupdate reads; no program is built from it."""
import pathlib, re, sys

*rooms, target = map(pathlib.Path, sys.argv[1:])
LITERAL = re.compile(r'\b(?:sentence|SentenceText(?: \w+)?)\s*[({]\s*"((?:[^"\\]|\\.)*)"')

sentences = {}
for file in sorted(file for room in rooms for pattern in ("*.cpp", "*.h") for file in room.rglob(pattern)):
    joined = re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))  # literals that are broken over lines
    sentences |= dict.fromkeys(LITERAL.findall(joined))
lines = [f'    QT_TRANSLATE_NOOP("Core", "{text}"),' for text in sentences]
target.write_text("const char* const kTexts[] = {\n" + "\n".join(lines) + "\n};\n", encoding="utf-8")
