"""Parquet by chance, with every option of the writers of pyarrow and pandas; the rows are those that pyarrow reads."""
import datetime
import decimal

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

from data_cases import Case, REFUSED, count, text, usual_column


def some(r, make, nulls=0.1):
    return None if r.random() < nulls else make()


def items(r, make, nulls=0.1):
    return [some(r, make, nulls) for _ in range(r.choice([0, 1, 1, 2, 3, 5]))]


TEXTS = [pa.string(), pa.string(), pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()), pa.binary(), pa.large_binary()]


def text_type(r):
    return r.choice(TEXTS)


def nested_text_type(r):
    return r.choice([pa.string(), pa.string(), pa.large_string()])


# Shapes of a text column: how Furrow names it, its type, and a value.
def plain(r):
    kind = text_type(r)
    is_bytes = kind in (pa.binary(), pa.large_binary())
    return "{}", kind, lambda: some(r, lambda: r.randbytes(r.randint(0, 20)) if is_bytes and r.random() < 0.5 else text(r, controls=True).encode() if is_bytes else text(r, controls=True))


def struct(r):
    inner = nested_text_type(r)
    return "{}.text", pa.struct([("n", pa.int32()), ("text", inner)]), lambda: some(r, lambda: {"n": some(r, lambda: 1), "text": some(r, lambda: text(r, controls=True))})


def strings(r):
    inner = nested_text_type(r)
    kind = r.choice([pa.list_, pa.large_list])(inner)
    return "{}[]", kind, lambda: some(r, lambda: items(r, lambda: text(r, controls=True)))


def conversation(r):
    kind = pa.list_(pa.struct([("role", pa.string()), ("content", nested_text_type(r))]))
    return "{}[].content", kind, lambda: some(r, lambda: items(r, lambda: {"role": some(r, lambda: "user"), "content": some(r, lambda: text(r, controls=True))}))


def deep(r):
    kind = pa.struct([("items", pa.list_(pa.struct([("meta", pa.struct([("lines", pa.list_(pa.string()))]))])))])
    return "{}.items[].meta.lines[]", kind, lambda: some(r, lambda: {"items": some(r, lambda: items(r, lambda: {"meta": some(r, lambda: {"lines": some(r, lambda: items(r, lambda: text(r, controls=True)))})}))})


def grid(r):
    return "{}[][]", pa.list_(pa.list_(pa.string())), lambda: some(r, lambda: items(r, lambda: items(r, lambda: text(r, controls=True))))


SHAPES = [plain] * 6 + [struct, strings, conversation, deep, grid]

NEIGHBOURS = {"id": (pa.int64(), lambda r: r.randint(-10**12, 10**12)), "score": (pa.float64(), lambda r: r.choice([r.random(), float("nan"), float("inf")])), "f16": (pa.float32(), lambda r: r.random()), "flag": (pa.bool_(), lambda r: r.random() < 0.5),
              "day": (pa.date32(), lambda r: datetime.date(2000 + r.randint(0, 30), 1, 2)), "at": (pa.timestamp("us", "UTC"), lambda r: datetime.datetime(2024, 1, r.randint(1, 28), tzinfo=datetime.timezone.utc)),
              "price": (pa.decimal128(10, 2), lambda r: decimal.Decimal(r.randint(0, 10**6)) / 100), "key": (pa.binary(4), lambda r: r.randbytes(4)), "vector": (pa.list_(pa.float32(), 3), lambda r: [1.0, 2.0, r.random()]),
              "tags": (pa.map_(pa.string(), pa.int32()), lambda r: [("a", 1), ("b", 2)][:r.randint(0, 2)])}
ENCODINGS = {"string": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"], "int": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"], "float": ["PLAIN", "BYTE_STREAM_SPLIT"], "bytes": ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"]}


def options(r):
    return {"compression": r.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]), "data_page_version": r.choice(["1.0", "2.0"]), "version": r.choice(["1.0", "2.4", "2.6"]), "write_statistics": r.random() < 0.7,
            "data_page_size": r.choice([None, 1, 100, 5000]), "dictionary_pagesize_limit": r.choice([None, 10, 1000]), "write_batch_size": r.choice([None, 1, 7, 1000]), "store_schema": r.random() < 0.8,
            "write_page_index": r.random() < 0.3, "write_page_checksum": r.random() < 0.5, "use_compliant_nested_type": r.random() < 0.7, "store_decimal_as_integer": r.random() < 0.3}


def encodings(r, schema):
    """For some files an encoding of every column that can have one, without dictionaries."""
    if r.random() < 0.5:
        return {"use_dictionary": r.choice([True, True, False])}
    chosen = {}
    for field in schema:
        kind = "string" if field.type in TEXTS and not pa.types.is_dictionary(field.type) else "int" if pa.types.is_integer(field.type) else "float" if pa.types.is_floating(field.type) else "bytes" if pa.types.is_fixed_size_binary(field.type) else None
        if kind:
            chosen[field.name] = r.choice(ENCODINGS[kind])
    return {"use_dictionary": False, "column_encoding": chosen}


def write_groups(r, path, table, **parts):
    """Row groups of any size, some of them empty."""
    with pq.ParquetWriter(path, table.schema, **parts) as writer:
        at = 0
        while at < table.num_rows or at == 0:
            size = r.choice([0, 1, 2, 5, 17, 1000])
            writer.write_table(table.slice(at, size), row_group_size=max(1, size))
            at += size
            if table.num_rows == 0:
                break


def texts_of(value, moves):
    """The texts behind the moves; what is null is none."""
    if value is None:
        return []
    if not moves:
        return [value if isinstance(value, bytes) else value.encode()]
    inner = value if moves[0] == "[]" else [value[moves[0]]]
    return [found for item in inner for found in texts_of(item, moves[1:])]


def moves_of(path):
    return path.replace("[]", ".[]").split(".")


def joined(values, moves):
    """The rows of a column; a null is an empty text."""
    return [b"\n".join(texts_of(value, moves)) for value in values]


def pyarrow_rows(path, name, moves):
    """As pyarrow reads the column; REFUSED when it does not."""
    try:
        return joined(pq.read_table(path, columns=[name], page_checksum_verification=True, partitioning=None)[name].to_pylist(), moves)
    except (pa.ArrowException, OSError):
        return REFUSED


def written(r, folder):
    size = count(r)
    names = r.sample(["text", "Text", "content", "body", "summary", "messages", "ünï", "a b"], r.randint(1, 3))
    names = [name for name in names if [other.lower() for other in names].count(name.lower()) == 1] or ["text"]
    fields, columns, paths = [], [], {}
    for name in names:
        shape, kind, value = r.choice(SHAPES)(r)
        fields.append((name, kind, [value() for _ in range(size)]))
        paths[name] = shape.format(name)
    for name in r.sample(list(NEIGHBOURS), r.randint(0, 4)):
        kind, value = NEIGHBOURS[name]
        fields.append((name, kind, [some(r, lambda: value(r)) for _ in range(size)]))
    r.shuffle(fields)
    for _, kind, values in fields:
        columns.append(pa.array(values, kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values, kind))
    table = pa.table(columns, names=[name for name, _, _ in fields])
    parts = options(r) | encodings(r, table.schema)
    path = folder / r.choice(["a.parquet", "a.parquet", "A.PARQUET", "noending"])
    if r.random() < 0.6:
        write_groups(r, path, table, **parts)
    else:
        pq.write_table(table, path, row_group_size=r.choice([None, 3, 100, 5000]), **parts)
    settings = {}
    candidates = [every for name, kind, _ in fields if name in paths or name == "tags" for every in text_paths(name, kind)]
    name = r.choice(names)
    if r.random() < 0.5 and usual_column(candidates) in paths.values():
        name = next(name for name in names if paths[name] == usual_column(candidates))
    else:
        settings["text_column"] = paths[name]
    rows = pyarrow_rows(path, name, moves_of(paths[name])[1:])
    if rows != REFUSED and len(rows) < size:  # pyarrow takes a page without values, which its own writer makes, for the end of a row group: what went in is right
        rows = joined(next(values for field, _, values in fields if field == name), moves_of(paths[name])[1:])
    return Case([path], settings, rows, f"parquet {table.schema.field(name).type} {parts}")


def text_paths(name, kind):
    """All columns with text that are in a column of Arrow."""
    if pa.types.is_map(kind):
        return text_paths(name + ".key_value[].key", kind.key_type)  # what Parquet makes of it
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return text_paths(name + "[]", kind.value_type)
    if pa.types.is_struct(kind):
        return [path for field in kind for path in text_paths(f"{name}.{field.name}", field.type)]
    return [name] if kind in TEXTS else []


def with_pandas(r, folder):
    rows = [some(r, lambda: text(r, controls=True)) for _ in range(count(r))]
    frame = pandas.DataFrame({"text": pandas.Series(rows, dtype=r.choice(["object", "string", "category"])), "n": range(len(rows))})
    path = folder / "a.parquet"
    frame.to_parquet(path, index=r.choice([None, True, False]), compression=r.choice(["snappy", "gzip", "brotli", "zstd", None]))
    back = pandas.read_parquet(path, columns=["text"])["text"]
    return Case([path], {}, [b"" if pandas.isna(value) else value.encode() for value in back], "parquet of pandas")  # no text, no trouble


class Keys(pe.KmsClient):
    """Keys that are not secret."""

    def wrap_key(self, key, master):
        return key

    def unwrap_key(self, key, master):
        return key


def encrypted(r, folder):
    factory = pe.CryptoFactory(lambda config: Keys())
    config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["text"]}, plaintext_footer=r.random() < 0.5)
    table = pa.table({"text": [text(r) for _ in range(5)]})
    path = folder / "a.parquet"
    with pq.ParquetWriter(path, table.schema, encryption_properties=factory.file_encryption_properties(pe.KmsConnectionConfig(), config)) as writer:
        writer.write_table(table)
    return Case([path], {}, pyarrow_rows(path, "text", []), "encrypted parquet")


def damaged(r, folder):
    """Cut, or with a flipped bit where a checksum of a page, or the footer, shows it; now and then no Parquet at all. Without Arrow's copy of the schema, which Furrow does not read."""
    path = folder / "a.parquet"
    if r.random() < 0.2:
        path.write_bytes(r.choice([b"plain words\n" * 50, b"PAR1", b"PAR1PAR1", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", b"", r.randbytes(500)]))
        return Case([path], {}, REFUSED, "no parquet")
    table = pa.table({"text": [text(r, controls=True) for _ in range(max(20, count(r)))]})
    pq.write_table(table, path, compression=r.choice(["none", "snappy", "zstd"]), write_page_checksum=True, store_schema=False, row_group_size=r.choice([5, 1000]), data_page_version=r.choice(["1.0", "2.0"]), use_dictionary=r.random() < 0.5)
    data = path.read_bytes()
    at = r.randint(4, len(data) - 9)
    path.write_bytes(data[:at] if r.random() < 0.4 else data[:at] + bytes([data[at] ^ 1 << r.randint(0, 7)]) + data[at + 1:])
    rows = pyarrow_rows(path, "text", [])
    if rows != REFUSED and len(rows) != rows_of_groups(path):  # the flipped bit is in a number of rows: pyarrow reads what is there and is silent
        rows = REFUSED
    return Case([path], {}, rows, "damaged parquet")


def rows_of_groups(path):
    """As the footer counts them, group by group."""
    footer = pq.read_metadata(path)
    return sum(footer.row_group(group).num_rows for group in range(footer.num_row_groups))


def parquet_file(r, folder):
    return r.choice([written] * 12 + [with_pandas, encrypted, damaged])(r, folder)
