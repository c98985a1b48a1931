"""CSV and TSV by chance: written by Python's csv, pandas and Arrow, or by hand with everything that stands in files of the wild. The rows are those that went in, or what csv reads."""
import csv
import io
import re

import pandas
import pyarrow as pa
import pyarrow.csv

from data_cases import Case, REFUSED, UNREADABLE, count, decoded, encoding, settings_of, text, unpacked, usual_column, write

NAMES = ["id", "Text", "text", "CONTENT", "body", "url", "title", "ünï", "a b", "x.y", "score", "summary"]
CHARACTERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


def table(r, chosen, columns=None):
    names = r.sample(NAMES, columns or r.randint(1, 5))
    names = [name for name in names if [other.lower() for other in names].count(name.lower()) == 1] or ["text"]
    if chosen.prose is not None:
        names = [name for name in names if name.isascii()] or ["text"]
    rows = [[cell(r, chosen) for _ in names] for _ in range(count(r))]
    return names, rows


def cell(r, chosen):
    """A \r at its end could not be told from the line end of Windows where no quotes are written."""
    return text(r, chosen).rstrip("\r") if r.random() < 0.8 else str(r.randint(0, 10**6))


def with_python(r, names, rows):
    quoting = r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE if len(names) > 1 else csv.QUOTE_ALL])  # an empty text alone needs quotes
    dialect = {"delimiter": r.choice([",", ",", ";", "\t", "|"]), "quoting": quoting, "lineterminator": r.choice(["\n", "\r\n"]), "quotechar": r.choice(['"', '"', '"', "'"])}
    if quoting == csv.QUOTE_NONE or r.random() < 0.25:
        dialect |= {"escapechar": "\\", "doublequote": False}
    out = io.StringIO(newline="")
    csv.writer(out, **dialect).writerows([names] + rows)
    return out.getvalue(), dialect


def with_pandas(r, names, rows):
    dialect = {"delimiter": r.choice([",", ";", "\t", "|"]), "quotechar": r.choice(['"', '"', "'"])}
    if r.random() < 0.2:
        dialect |= {"escapechar": "\\", "doublequote": False}
    parts = {**dialect, "sep": dialect["delimiter"], "lineterminator": r.choice(["\n", "\r\n"]), "quoting": r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])}
    del parts["delimiter"]
    return pandas.DataFrame(rows, columns=names, dtype=str).to_csv(index=False, **parts), dialect


def with_arrow(r, names, rows):
    dialect = {"delimiter": r.choice([",", ";", "\t", "|"]), "quotechar": '"'}
    out = pa.BufferOutputStream()
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))]
    pa.csv.write_csv(pa.table(columns, names=names), out, pa.csv.WriteOptions(delimiter=dialect["delimiter"], quoting_style=r.choice(["needed", "all_valid"])))
    return out.getvalue().to_pybytes().decode(), dialect


def settings_for(r, dialect, names, rows):
    """What Furrow must be told: everything, or what it cannot find itself. It finds delimiters from records with several fields, and a backslash where some stand before quotes."""
    settings = {}
    if dialect.get("quoting") == csv.QUOTE_NONE:
        settings["csv_quote"] = "none"
    elif dialect["quotechar"] != '"':
        settings["csv_quote"] = dialect["quotechar"]
    escape = dialect.get("escapechar")
    enough = r.random() < 0.6 and len(rows) >= 8
    if not (enough and len(names) > 1):
        settings["csv_delimiter"] = r.choice([dialect["delimiter"], CHARACTERS[dialect["delimiter"]]])
    shows = "csv_quote" not in settings and sum(dialect["quotechar"] in field for row in rows[:20] for field in row) > 1
    if not enough or (escape and not shows):
        settings["csv_escape"] = escape or "none"
    return settings


def same_for_csv(plain, dialect, names, rows):
    """Whether Python's csv reads what was written: it ends a record at a lone \\r, which Furrow leaves in the text as the writers had it."""
    return "\r" in plain.replace("\r\n", "") or list(csv.reader(io.StringIO(plain, newline=""), **dialect)) == [names] + rows


def written(r, folder):
    chosen = encoding(r)
    names, rows = table(r, chosen)
    if len(names) == 1:
        rows = [row for row in rows if row != [""]]  # in a column alone an empty text is a blank line for some writers, and no row
    plain, dialect = r.choice([with_python, with_python, with_pandas, with_arrow])(r, names, rows)
    settings = settings_of(chosen, plain) | settings_for(r, dialect, names, rows)
    column = usual_column(names)
    if column is None or r.random() < 0.5:
        column = r.choice(names)
        settings["text_column"] = column.upper() if r.random() < 0.2 and column.isascii() else column
    if not same_for_csv(plain, dialect, names, rows):
        return None
    ending = ".tsv" if dialect["delimiter"] == "\t" and r.random() < 0.7 else ".csv"
    path = write(r, folder, "a" + ending, chosen, plain, damage=0.1)
    data = unpacked(path)
    note = f"csv {dialect}, {chosen.codec}, {len(names)} columns"
    if data is None:
        return Case([path], settings, REFUSED, "damaged " + note)
    if decoded(chosen, data) != plain.encode():  # a broken byte was put in: what is written is read
        return None
    at = names.index(column)
    return Case([path], settings, [row[at].encode() for row in rows], note)


# --- by hand ---

PIECES = ["a", "b c", "ü", " ", "  lead", "x'y", "1", "", '""', '"q"', '"a,b"', '"a ""q"" b"', '"l1\nl2"', '"l1\r\nl2"', 'in"side', 'end"', '"closed"behind', '"closed" ', ' "late"', "\\", "a\\b", '"c:\\"', '"\\n"']

BROKEN = ['"x""', '"l1\nl2"behind', '"l1\nl2" behind', '"open']


def by_hand(r, folder):
    """Records put together from pieces, too short and too long ones among them, blank lines, quotes that never close."""
    fields = r.randint(2, 4)
    names = ["text", "b", "c", "d"][:fields] if r.random() < 0.5 else ["a", "b", "text", "d"][:fields]
    pieces = PIECES + (BROKEN if r.random() < 0.15 else [])
    records = [",".join(r.choice(pieces) for _ in range(max(1, fields + r.choice([0, 0, 0, 0, -1, 1])))) for _ in range(r.randint(1, 30))]
    end = r.choice(["\n", "\r\n"])
    plain = "".join(part + r.choice([end, end, end, end + end]) for part in [",".join(names)] + records)
    if r.random() < 0.3:
        plain = plain.rstrip("\r\n")
    path = folder / "hand.csv"
    path.write_bytes(plain.encode())
    settings = {"csv_delimiter": ",", "csv_escape": "none", "csv_quote": '"'}
    column = "text" if "text" in names else names[0]
    if column != "text":
        settings["text_column"] = column
    return Case([path], settings, rows_by_hand(plain, names, column), "csv by hand")


QUOTED = re.compile(r'(?:^|(?<=[,\n]))"((?:[^"]|"")*+)(?:"([^,\n]*)|$)')


def rows_by_hand(plain, names, column):
    """As Python's csv. A quote that nothing closes is refused, as pandas does; and one with text behind it after several lines (core/data/README.md), for most likely a quote is missing before."""
    for field in QUOTED.finditer(plain):
        inside, behind = field.groups()
        if behind is None or ("\n" in inside and behind[:1] not in ("", " ", "\r")):
            return REFUSED
    at = names.index(column)
    found = [row for row in csv.reader(io.StringIO(plain, newline="")) if row]
    return [row[at].encode() if len(row) > at and not any(row[len(names):]) else UNREADABLE for row in found[1:]]


def without_header(r, folder):
    chosen = encoding(r)
    names, rows = table(r, chosen, columns=r.randint(2, 4))
    if not rows:
        return None
    plain, dialect = with_python(r, names, rows)
    settings = settings_of(chosen, plain) | settings_for(r, dialect, names, []) | {"csv_header": False}
    at = r.randint(0, len(names) - 1)
    settings["text_column"] = str(at + 1)
    if not same_for_csv(plain, dialect, names, rows):
        return None
    path = write(r, folder, "a.csv", chosen, plain)
    if decoded(chosen, unpacked(path)) != plain.encode():
        return None
    return Case([path], settings, [row[at].encode() for row in [names] + rows], f"csv without a header {dialect}")


def csv_file(r, folder):
    return r.choice([written, written, written, by_hand, without_header])(r, folder)
