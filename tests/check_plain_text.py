#!/usr/bin/env python3
"""Fails where the console could show text from outside as rich text: labels, boxes, tips and notifications come from ui/widgets/plain_text only, and
HTML is written only where this program writes it itself and escapes what it puts in."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
HOME = {"ui/widgets/plain_text.cpp", "ui/widgets/plain_text.h"}
# Files that write their own HTML; each value in it is escaped (tst_plain_text shows them hostile ones).
OWN_HTML = {"ui/shell/help_dialog.cpp", "ui/pages/chunk_samples_view.cpp", "ui/export/audit_report.cpp", "ui/pages/sampling_page.cpp"}
RULES = [
    (r"\bnew QLabel\b|\bQLabel\s+\w+\s*[;({]", HOME, "makes a QLabel: plainLabel or makeLabel"),
    (r":\s*public QLabel\b", HOME | {"ui/parts/page_parts.h"}, "derives from QLabel, whose text may be rich: makePlain in its constructor, and name it here"),
    (r"\bsetTextFormat\s*\(", HOME, "chooses the format of a text: makePlain or makeRich"),
    (r"\bmakeRich\s*\(", HOME | {"ui/dialogs/resume_parts.cpp"}, "makes a label rich: its values must be escaped, name it here"),
    (r"\bnew QMessageBox\b|\bQMessageBox\s+\w+\s*[;({]|\bQMessageBox::(question|warning|information|critical|about)\b", HOME, "makes a QMessageBox: makeBox"),
    (r"\bQ(ErrorMessage|ProgressDialog|WhatsThis|StaticText|GraphicsTextItem|TextEdit)\b|\bsetWhatsThis\s*\(", HOME, "uses what shows rich text by itself"),
    (r"\bQToolTip::showText\s*\(", HOME, "shows a tip: showTip"),
    (r"\b(setHtml|insertHtml|appendHtml|setMarkdown)\s*\(", OWN_HTML, "writes HTML: escape what goes into it, and name the file here"),
    (r"tray_?->showMessage\s*\((?!.*notificationText)", HOME, "sends a notification: notificationText"),
]

FILES = sorted((ROOT / "ui").glob("**/*.[hc]*")) + sorted((ROOT / "app").glob("*.cpp"))

def breaches():
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in (".h", ".cpp"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0] if not line.lstrip().startswith('"') else line
            if code.lstrip().startswith(("#include", "class ")) and "public" not in code:
                continue
            for pattern, homes, why in RULES:
                if name not in homes and re.search(pattern, code):
                    yield f"{name}:{number} {why}"

found = list(breaches())
print("\n".join(found))
sys.exit(1 if found or not FILES else 0)
