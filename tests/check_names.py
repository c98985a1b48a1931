#!/usr/bin/env python3
"""Fails when two headers define different types of one name in one namespace: each file compiles, and the linker keeps one's code for both."""
import collections, pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
TYPE = re.compile(r"^(?:struct|class|enum class|union) (\w+)\b(?!::)[^;\n]*$", re.MULTILINE)  # not indented: not inside another type
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)

homes = collections.defaultdict(list)
for room in ("core", "ui", "app"):
    for path in sorted((ROOT / room).rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        spaces = "::".join(NAMESPACE.findall(text))
        for name in TYPE.findall(text):
            homes[spaces + "::" + name].append(path.relative_to(ROOT))

twice = {name: paths for name, paths in homes.items() if len(paths) > 1}
for name, paths in sorted(twice.items()):
    print(f"{name} is defined in " + " and ".join(map(str, paths)))
sys.exit(1 if twice or not homes else 0)
