#!/usr/bin/env python3
"""Fails when code asks by text what a closed set of core says (core/base/closed_set.h): a field named as one of them is compared with a literal, so that it is
a string again and not its enum."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
FIELDS = re.compile(
    r"\b(architecture|positions|norm|activation|schedule|precision|attention|optimizer|parallel|merge|method|dataMode|chatLoss|longSamples|duplicates"
    r"|badFiles|parentChunks|phase|outcome|state|reason)(?:\(\))?_? [!=]= (?:std::string_view\(|QLatin1String\(|QStringLiteral\()?\"([^\"]*)\"")
NAMES = re.compile(r'ClosedName \{ \w+::\w+, "([^"]+)"')

sources = [path for room in ("core", "ui", "app") for path in sorted((ROOT / room).rglob("*")) if path.suffix in (".h", ".cpp", ".cu")]
texts = {path: path.read_text(encoding="utf-8") for path in sources}
names = {name for text in texts.values() for name in NAMES.findall(text)}
breaches = [(path, number, found[0]) for path, text in texts.items() for number, line in enumerate(text.splitlines(), 1) for found in FIELDS.finditer(line)
            if found[2] in names]
for path, number, found in breaches:
    print(f"{path.relative_to(ROOT)}:{number}: {found} compares the text of a closed set; compare its enum")
sys.exit(1 if breaches or not names else 0)
