#!/usr/bin/env python3
"""Writes the texts of core that the console translates as a C++ file for lupdate: labels, units, help, groups, presets, and the evidence for a state."""
import pathlib, re, sys

core, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder = core / "config"
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
evidence = re.findall(r'\bsay\(status, ' + STRING, (core / "run" / "run_status.cpp").read_text(encoding="utf-8"))
lines = [f'    QT_TRANSLATE_NOOP("Schema", "{text}"),' for text in dict.fromkeys(texts) if text]
lines += [f'    QT_TRANSLATE_NOOP("Evidence", "{text}"),' for text in evidence]
target.write_text("const char* const schemaTexts[] = {\n" + "\n".join(lines) + "\n};\n", encoding="utf-8")
