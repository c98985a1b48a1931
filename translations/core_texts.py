#!/usr/bin/env python3
"""Writes the sentences of core that are written with sentence() (core/base/sentence.h) as a C++ file, for lupdate and the console."""
import pathlib, re, sys

core, sentences_target = map(pathlib.Path, sys.argv[1:])
STRING = r'"((?:[^"\\]|\\.)*)"'


def source(file):
    """What a C++ file says, with literals that are broken over lines put together."""
    return re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))


sentences = {}
for file in sorted(core.rglob("*.cpp")):
    for text in re.findall(r'\bsentence\(\s*' + STRING, source(file)):
        numbers = [int(number) for number in re.findall(r'%(\d)', text)]
        if numbers != list(range(1, len(numbers) + 1)):
            sys.exit(f"{file}: the places of a sentence are %1, %2, ... in this order, not those of: {text}")
        sentences[text] = None
lines = [f'    QT_TRANSLATE_NOOP("Core", "{text}"),' for text in sentences]
content = '#include "ui/models/core_words.h"\n\n#include <QtGlobal>\n\nnamespace furrow {\n\nnamespace {\n\nconst char* const kTexts[] = {\n' + "\n".join(lines) \
    + "\n};\n\n} // namespace\n\nstd::span<const char* const> coreSentences()\n{\n    return kTexts;\n}\n\n} // namespace furrow\n"
if not sentences_target.exists() or sentences_target.read_text(encoding="utf-8") != content:  # else it would be compiled with each change of core
    sentences_target.write_text(content, encoding="utf-8")
