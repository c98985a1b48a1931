#!/usr/bin/env python3
"""Fails when a file includes something its room must not know: app -> ui -> core, torch only in core/cuda, core/collective and core/train, and the order of
the rooms in core and of the folders inside them."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
QT = re.compile(r'#include\s*<Q[A-Z]\w*>|#include\s*"qcustomplot')
TORCH = re.compile(r'#include\s*<(torch|ATen|c10)/')
UP = {"core": ["ui/", "app/", "tests/"], "ui": ["app/", "tests/"]}
# Order of the rooms inside core: a room may include itself and those before it.
ROOMS = ["base", "config", "model", "chat", "data", "telemetry", "tracker", "device", "libtorch", "run", "workspace", "trials", "cuda", "collective", "train"]
TORCH_ROOMS = ROOMS[-3:]
# The same inside a room, by folder; "." is the room's own. What stands together may include each other.
FOLDERS = {
    "core/data": [{"tokenizer"}, {"source", "hub"}, {"block"}, {"plan"}, {"."}],
    "core/tracker": [{"sqlite"}, {"."}, {"audit"}],
    "core/run": [{"folder"}, {"status"}, {"audit"}, {"start"}, {"supervise"}],
    "core/train": [{"cpu"}, {"model"}, {"optim", "weights", "sample"}, {"meters", "merge"}, {"checkpoint"}, {"loop"}, {"tasks"}],
    "ui": [{"theme"}, {"widgets"}, {"charts"}, {"bridge"}, {"models"}, {"parts"}, {"export"}, {"pages"}, {"dialogs"}, {"shell"}, {"bench"}],
}


def floor(room, folder):
    return next((i for i, names in enumerate(FOLDERS[room]) if folder in names), None)


def order_breach(path, include):
    """Whether the folder that is included stands above the one that includes it, in the room of both."""
    for room in FOLDERS:
        if path.startswith(room + "/") and include.startswith(room + "/"):
            own, other = (name[len(room) + 1:].split("/")[0] if "/" in name[len(room) + 1:] else "." for name in (path, include))
            return None not in (floor(room, own), floor(room, other)) and floor(room, other) > floor(room, own)
    return False


def breaches():
    for path in sorted(ROOT.glob("**/*.[hc]*")):
        parts = path.relative_to(ROOT).parts
        if parts[0] not in ("core", "ui", "app") or path.suffix not in (".h", ".cpp", ".cu"):
            continue
        text = path.read_text(encoding="utf-8")
        torch_room = parts[0] == "core" and parts[1] in TORCH_ROOMS
        if parts[0] == "core" and QT.search(text):
            yield path, "includes Qt, core must not know it"
        if TORCH.search(text) and not torch_room:
            yield path, "includes torch outside core/cuda, core/collective and core/train"
        if TORCH.search(text) and path.suffix == ".h" and not path.name.endswith("_torch.h"):
            yield path, "is a header with torch types but not named *_torch.h"
        for include in re.findall(r'#include\s*"([^"]+)"', text):
            if any(include.startswith(up) for up in UP.get(parts[0], [])):
                yield path, f"includes {include}, which lies above it"
            inner = include.split("/")
            if parts[0] == "core" and inner[0] == "core" and len(inner) > 2 and len(parts) > 2:
                if inner[1] in ROOMS and parts[1] in ROOMS and ROOMS.index(inner[1]) > ROOMS.index(parts[1]):
                    yield path, f"includes {include}: {parts[1]} must not know {inner[1]}"
            if order_breach("/".join(parts), include):
                yield path, f"includes {include}, whose folder stands above its own"
            if include.endswith("_torch.h") and not torch_room:
                yield path, f"includes {include}: torch headers stay in core/cuda, core/collective and core/train"


def unordered():
    """Rooms and folders that have no place above: they could include anything."""
    for place, known in [("core", set(ROOMS)), *((room, set().union(*floors)) for room, floors in FOLDERS.items())]:
        for folder in sorted((ROOT / place).iterdir()):
            if folder.is_dir() and folder.name not in known:
                yield folder, "has no place in the order of tests/check_layering.py"


found = list(breaches()) + list(unordered())
for path, why in found:
    print(f"{path.relative_to(ROOT)} {why}")
sys.exit(1 if found else 0)
