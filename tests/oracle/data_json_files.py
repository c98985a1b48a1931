"""JSON lines by chance: written by Python and pandas, or by hand with every kind of value and of damage. The rows are those that json reads, line by line."""
import json
import re
import sys

import pandas

from data_cases import Case, REFUSED, UNREADABLE, count, decoded, encoding, settings_of, text, unpacked, usual_column, write

sys.set_int_max_str_digits(0)  # a guard of Python, not of JSON: Furrow reads numbers of any size

LONE = re.compile("[\ud800-\udfff]")


# --- what a path finds in a value, as a person would write it in Python ---

class Wrong(Exception):
    """The value has no text at the path."""


def texts_at(value, moves, in_list=False):
    """The texts behind the moves. A null is no text and no trouble, as json_normalize takes it; nor is a member that is missing inside a list."""
    if value is None:
        return []
    if not moves:
        if not isinstance(value, str):
            raise Wrong
        return [value]
    if moves[0] == "[]":
        if not isinstance(value, list):
            raise Wrong
        return [found for item in value for found in texts_at(item, moves[1:], True)]
    if not isinstance(value, dict) or (moves[0] not in value and not in_list):
        raise Wrong
    return texts_at(value.get(moves[0]), moves[1:], in_list)


def row(line, moves):
    """One line of bytes. Halves of surrogate pairs and bytes that are not UTF-8 become U+FFFD: tokens cannot hold them."""
    if not line.strip(b" \t\r\n"):
        return b""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        if not isinstance(value, dict):
            return UNREADABLE
        return LONE.sub("\ufffd", "\n".join(texts_at(value, moves))).encode()
    except (ValueError, Wrong):
        return UNREADABLE


def rows(plain, moves):
    lines = plain.split(b"\n")
    return [row(line, moves) for line in (lines[:-1] if lines[-1] == b"" else lines)]


# --- values ---

def number(r):
    return r.choice(["0", "-0", "1", "-17", "1.5", "1e5", "1E+400", "-1e-400", "1e999", "123456789012345678901234567890", "9" * 5000, "NaN", "Infinity", "-Infinity", "0.1e-7"])


def any_value(r, depth=0):
    """A value as text of JSON."""
    kind = r.random()
    if kind < 0.35:
        return json.dumps(text(r, controls=True), ensure_ascii=r.random() < 0.5)
    if kind < 0.6 or depth > 3:
        return r.choice([number(r), "null", "true", "false"])
    if kind < 0.8:
        return "[" + ", ".join(any_value(r, depth + 1) for _ in range(r.randint(0, 3))) + "]"
    return "{" + ",".join(json.dumps(r.choice(["a", "b", "text", "", "ü", "a.b"])) + ":" + any_value(r, depth + 1) for _ in range(r.randint(0, 3))) + "}"


def string(r):
    """A string with escapes that json.dumps does not write."""
    if r.random() < 0.7:
        return json.dumps(text(r, controls=True), ensure_ascii=r.random() < 0.5)
    parts = ["a", "\\u00e9", "\\/", "\\b\\f\\n\\r\\t", "\\\\", "\\\"", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\ud83d\\ud83d\\ude00", "\\u0000", "é", "日本", "😀", "\x7f", "\u2028", "\\\\ud800", "\\uD83D\\uDE00", "\\ufeff"]
    return '"' + "".join(r.choice(parts) for _ in range(r.randint(0, 8))) + '"'


def almost_string(r):
    """What stands where the text should be: nearly always a string."""
    return string(r) if r.random() < 0.85 else any_value(r)


# Paths that a text can have: the moves, and a function that writes a value with it.
def member(name, value):
    return json.dumps(name) + ": " + value


def content(r, moves):
    if not moves:
        return almost_string(r)
    if r.random() < 0.04:
        return any_value(r)
    if moves[0] == "[]":
        return "[" + ", ".join(content(r, moves[1:]) for _ in range(r.randint(0, 4))) + "]"
    members = [member(name, any_value(r)) for name in r.sample(["role", "n", "x"], r.randint(0, 2))]
    if r.random() < 0.93:
        members.append(member(moves[0], content(r, moves[1:])))
    if r.random() < 0.06:
        members.append(member(moves[0], content(r, moves[1:])))  # the last of several equal members counts
    r.shuffle(members)
    return "{" + ", ".join(members) + "}"


PATHS = {"text": ["text"], "Text": ["Text"], "meta.text": ["meta", "text"], "paragraphs[]": ["paragraphs", "[]"], "messages[].content": ["messages", "[]", "content"], "a\\.b": ["a.b"], "ü": ["ü"],
         "pages[].lines[]": ["pages", "[]", "lines", "[]"], "grid[][]": ["grid", "[]", "[]"], "x\\[]": ["x[]"], "data.items[].meta.text": ["data", "items", "[]", "meta", "text"]}
BROKEN = ["{", "}", "{}", "[]", "null", "1", '"text"', '{"text": "a"', '{"text": "a"}}', '{"text": "a"} x', '{text: "a"}', "{'text': 'a'}", '{"text": "a",}', '{"text": tru}', '{"text": "\\x"}', '{"text": "\\u12"}', '{"text": "tab\there"}',
          '{"text": 01}', '{"text": "a" "b": 1}', '{"text": .5}', '{"text": "x", "n": 1.}', '{"text": "x", "n": +1}', '{"text": "x", "n": [1,]}', '{"text": "x" /* y */}', "nan", '{"text":"a"}{"text":"b"}', '{"text": "x", "n": --1}', '{"text": "x", "n": 0x1}',
          '{"text": "x", "n": -NaN}', '{"text": "x", "n": nan}', '{"text": "x", "n": 1e}', '\ufeff{"text": "bom inside"}', '\u00a0{"text": "x"}', '{"text": "x"}\u2003', '\x0c{"text": "x"}']


def by_hand(r, folder):
    path_text, moves = r.choice(list(PATHS.items()) + [("text", ["text"])] * 6)
    lines = []
    for i in range(max(1, count(r))):
        kind = r.random()
        if i > 3 and kind < 0.1:
            lines.append(r.choice(BROKEN))
        elif i > 3 and kind < 0.16:
            lines.append(r.choice(["", " ", "\t  "]))
        else:
            lines.append(r.choice(["", "", " ", "\t"]) + content(r, moves) + r.choice(["", "", " ", "  \t"]))
    lines[0] = "{" + member("id", "0") + nested(moves) + "}"  # the column stands among the first lines
    return finish(r, folder, r.choice(["a.jsonl", "a.ndjson"]), lines, moves, {"text_column": path_text}, f"jsonl by hand, {path_text}")


def nested(moves):
    """A member with a text at the path."""
    value = '"first"'
    for move in reversed(moves[1:]):
        value = f"[{value}]" if move == "[]" else "{" + member(move, value) + "}"
    return ", " + member(moves[0], value)


def finish(r, folder, name, lines, moves, settings, note):
    end = r.choice(["\n", "\n", "\r\n"])
    plain = end.join(lines) + r.choice([end, end, ""])
    chosen = encoding(r)
    if chosen.prose is not None or (chosen.codec != "utf-8" and LONE.search(plain)):
        chosen = type(chosen)()
    path = write(r, folder, name, chosen, plain, damage=0.1)
    settings |= settings_of(chosen, plain)
    data = unpacked(path)
    if data is None:
        return Case([path], settings, REFUSED, "damaged " + note)
    return Case([path], settings, rows(decoded(chosen, data), moves), f"{note}, {chosen.codec}")


def written(r, folder):
    """By json.dumps or pandas; the column is left to be found or is told."""
    names = r.sample(["id", "Text", "text", "content", "body", "url", "title", "ünï", "score"], r.randint(1, 5))
    names = [name for name in names if [other.lower() for other in names].count(name.lower()) == 1] or ["text"]
    objects = [{name: text(r, controls=True) if name not in ("id", "score") else r.randint(0, 9) for name in names} for _ in range(max(1, count(r)))]
    texts = [name for name in names if name not in ("id", "score")]
    if not texts:
        return None
    if r.random() < 0.3:
        lines = pandas.DataFrame(objects).to_json(orient="records", lines=True, force_ascii=r.random() < 0.5).rstrip("\n").split("\n")
    else:
        ascii_only, separators = r.random() < 0.5, r.choice([None, (",", ":")])
        lines = [json.dumps(item, ensure_ascii=ascii_only, separators=separators) for item in objects]
    settings, column = {}, usual_column(texts)
    if column is None or r.random() < 0.5:
        column = r.choice(texts)
        settings["text_column"] = column
    case = finish(r, folder, r.choice(["a.jsonl", "a.ndjson", "a.json"]), lines, [column], settings, "jsonl written")
    if case.rows != REFUSED and case.rows != [item[column].encode() for item in objects]:
        return None  # a broken byte was put in
    return case


def refused(r, folder):
    """What is called JSON lines and is none."""
    objects = [{"text": text(r)} for _ in range(3)]
    name, plain = r.choice([("a.jsonl", json.dumps(objects, indent=2)), ("a.jsonl", "plain words\nand more\n"), ("a.ndjson", "[1, 2]\n[3, 4]\n"), ("a.jsonl", ""),
                            ("a.json", json.dumps({"text": "a", "rows": objects}, indent=2)), ("a.jsonl", "<!DOCTYPE html><html></html>"), ("a.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")])
    path = folder / name
    path.write_text(plain)
    return Case([path], {}, REFUSED, "no JSON lines")


def json_file(r, folder):
    return r.choice([by_hand] * 6 + [written] * 3 + [refused])(r, folder)
