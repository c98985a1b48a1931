#!/usr/bin/env python3
"""Writes the texts of the configuration schema as a C++ file for lupdate: labels, units, help, groups, presets."""
import pathlib, re, sys

folder, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
STRING = r'"((?:[^"\\]|\\.)*)"'
schema = (folder / "schema.cpp").read_text(encoding="utf-8")
texts = []
for entry in re.findall(r'add\(\{ (.*?) \}\);', schema, re.S):
    head = re.match(STRING + r', ' + STRING + r', G::\w+, &C::\w+, ' + STRING, entry)
    _, label, unit = head.groups()
    texts += [label, unit, re.findall(STRING, entry)[-1]]
texts += re.findall(r'case G::\w+: return ' + STRING, schema)
presets = (folder / "presets.cpp").read_text(encoding="utf-8")
for _, title, hint in re.findall(r'push_back\(\{ ' + STRING + ', ' + STRING + ', ' + STRING, presets):
    texts += [title, hint] if ", " in title else [hint]  # the others are names
lines = [f'    QT_TRANSLATE_NOOP("Schema", "{text}"),' for text in dict.fromkeys(texts) if text]
target.write_text("const char* const schemaTexts[] = {\n" + "\n".join(lines) + "\n};\n", encoding="utf-8")
