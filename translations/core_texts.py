#!/usr/bin/env python3
"""Writes the texts of core that the console translates as C++ files: for lupdate alone labels, units, help, groups and presets; for lupdate and the
console the sentences that are written with sentence() (core/base/sentence.h)."""
import pathlib, re, sys

core, schema_target, sentences_target = map(pathlib.Path, sys.argv[1:])
folder = core / "config"
STRING = r'"((?:[^"\\]|\\.)*)"'
texts = []


def source(file):
    """What a C++ file says, with literals that are broken over lines put together."""
    return re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))


def on_one_line(file):
    return re.sub(r"\s*\n\s*", " ", source(file))


schema = on_one_line(folder / "schema.cpp")
for entry in re.findall(r'add\(\{ ?(.*?) ?\}\);', schema, re.S):
    head = re.match(STRING + r', ' + STRING + r', G::\w+, &C::\w+, ' + STRING, entry)
    _, label, unit = head.groups()
    texts += [label, unit, re.findall(STRING, entry)[-1]]
texts += re.findall(r'case G::\w+: return ' + STRING, schema)
presets = on_one_line(folder / "presets.cpp")
for _, title, hint in re.findall(r'push_back\(\{ ' + STRING + ', ' + STRING + ', ' + STRING, presets):
    texts += [title, hint] if ", " in title else [hint]  # the others are names
lines = [f'    QT_TRANSLATE_NOOP("Schema", "{text}"),' for text in dict.fromkeys(texts) if text]
schema_target.write_text("const char* const schemaTexts[] = {\n" + "\n".join(lines) + "\n};\n", encoding="utf-8")

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
