"""Plain text by chance, and its rows: lines, paragraphs and spans as Python cuts them."""
import itertools
import re

from data_cases import Case, REFUSED, decoded, encoding, settings_of, text, unpacked, count, write

BLANK = b" \t\r\n\f\v"


def lines(plain):
    """Up to each \\n; a \\r before it belongs to it. (Python's own text mode also ends a line at a lone \\r, which Furrow leaves in the text.)"""
    rows = plain.split(b"\n")
    return [row.removesuffix(b"\r") for row in (rows[:-1] if rows[-1] == b"" else rows)]


def paragraphs(plain):
    """Lines that are not blank, one after the other, with what stands between them; of the last one its line end is dropped."""
    whole = re.findall(rb"[^\n]*\n|[^\n]+$", plain)
    return [re.sub(rb"\r?\n$|\r$", b"", b"".join(group)) for has_text, group in itertools.groupby(whole, key=lambda line: bool(line.strip(BLANK))) if has_text]


def spans(plain, size, mark):
    """Each begins at a multiple of `size` in the file (so a byte order mark counts), or at the first character behind it."""
    def begin(at):
        while at < len(plain) and plain[at] & 0xC0 == 0x80:
            at += 1
        return at
    places = [0] + [begin(at) for at in range(size - mark, len(plain), size)] + [len(plain)]
    return [plain[a:b] for a, b in zip(places, places[1:]) if a < b]


def text_file(r, folder):
    chosen = encoding(r)
    end = r.choice(["\n", "\n", "\r\n"])
    plain = r.choice(["", "", end]) + "".join(text(r, chosen) + r.choice([end, end, end + end, end + "  \t" + end, "\r", end * 3]) for _ in range(count(r)))
    if r.random() < 0.3:
        plain = plain.rstrip("\r\n")
    plain = plain.lstrip("\ufeff")
    if plain.lstrip().startswith("{"):
        plain = "x" + plain  # it could be taken for JSON lines, rightly
    path = write(r, folder, r.choice(["a.txt", "two words.text", "ünï.md", "noending"]), chosen, plain, damage=0.1)
    mode, settings = r.choice(["auto", "lines", "paragraphs", "span"]), settings_of(chosen, plain)
    settings["data_mode"] = mode
    if mode == "span":
        settings["span_bytes"] = r.choice([16, 17, 100, 512, 4096])
    data = unpacked(path)
    if data is None:
        return Case([path], settings, REFUSED, "damaged compressed text")
    back = decoded(chosen, data)
    mark = 3 if chosen.mark and chosen.setting != "utf-16" else 0  # ICU's utf-16 takes it away
    rows = paragraphs(back) if mode == "paragraphs" else spans(back, settings["span_bytes"], mark) if mode == "span" else lines(back)
    return Case([path], settings, rows, f"text, {mode}, {chosen.codec}")
