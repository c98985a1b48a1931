"""Files for a hub by chance: rows that carry their own number, in one to three files of one format, large enough that they come in several requests."""
import csv
import dataclasses
import gzip
import io
import json
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

from data_cases import PRINTED


@dataclasses.dataclass
class Source:
    files: dict  # path -> bytes
    rows: dict  # (file, row) -> text
    note: str
    needed: int  # bytes that must come
    proven: bool = True  # whatever arrives wrong can be seen


def row_texts(r, lines):
    """@param lines  a text is one line"""
    size = r.choice([80, 300, 1500])
    made = []
    for number in range(r.choice([60, 200, 700, 700, 3000])):
        words = [f"{number}"]
        while sum(map(len, words)) < size * r.uniform(0.2, 1.8):
            words.append(r.choice(PRINTED) if r.random() < 0.3 else "".join(r.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(r.randint(3, 40))))
        text = " ".join(words)
        made.append(" ".join(text.split()) if lines else text.replace("\r", " "))
    return made


def lines(texts):
    return "".join(text + "\n" for text in texts).encode()


def json_lines(texts, r):
    return "".join(json.dumps({"id": i, "text": text}, ensure_ascii=r.random() < 0.5) + "\n" for i, text in enumerate(texts)).encode()


def csv_records(texts):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(texts))
    return out.getvalue().encode()


def json_list(texts):
    return json.dumps([{"id": i, "text": text} for i, text in enumerate(texts)], indent=1).encode()


def arrow_file(texts, r):
    sink = io.BytesIO()
    table = pa.table({"text": texts})
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=r.choice([None, "zstd"]))) as out:
        begin = 0
        while begin < table.num_rows:  # of uneven sizes: a block may end in a batch that is smaller than the one it begins in
            rows = r.choice([20, 300])
            out.write_table(table.slice(begin, rows))
            begin += rows
    return sink.getvalue()


def zipped(parts, r):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return out.getvalue()


def tarred(parts):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in parts:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def parquet_bytes(texts, r, others):
    columns = {"text": pa.array(texts, r.choice([pa.string(), pa.large_string()]))} | {f"other{i}": [r.randbytes(r.choice([20, 600])).hex() for _ in texts] for i in range(others)}
    names = list(columns)
    r.shuffle(names)
    sink = io.BytesIO()
    pq.write_table(pa.table({name: columns[name] for name in names}), sink, compression=r.choice(["none", "snappy", "zstd"]), row_group_size=r.choice([13, 100, 10_000]), write_page_checksum=True,
                   use_dictionary=r.random() < 0.3, data_page_version=r.choice(["1.0", "2.0"]), data_page_size=r.choice([2_000, 100_000, None]), write_page_index=r.random() < 0.3)
    return sink.getvalue()


def column_bytes(data):
    """Of the text and the footer."""
    meta = pq.ParquetFile(io.BytesIO(data)).metadata
    at = [i for i in range(meta.num_columns) if meta.row_group(0).column(i).path_in_schema == "text"][0]
    return sum(meta.row_group(group).column(at).total_compressed_size for group in range(meta.num_row_groups)) + meta.serialized_size + 8


def parquet_source(r, others):
    parts = [row_texts(r, False) for _ in range(r.choice([1, 1, 2]))]
    files = {f"data/train-{i}.parquet": parquet_bytes(texts, r, others) for i, texts in enumerate(parts)}
    return Source(files, numbered(parts), f"parquet, {others} other columns", sum(column_bytes(data) if others else len(data) for data in files.values()))


def numbered(parts):
    return {(file, row): text.encode() for file, texts in enumerate(parts) for row, text in enumerate(texts)}


TEXT_KINDS = {".txt": lambda t, r: lines(t), ".jsonl": json_lines, ".csv": lambda t, r: csv_records(t), ".json": lambda t, r: json_list(t), ".arrow": arrow_file,
              ".txt.gz": lambda t, r: gzip.compress(lines(t[:9])) + gzip.compress(lines(t[9:])), ".jsonl.zst": lambda t, r: pa.compress(json_lines(t, r), codec="zstd", asbytes=True)}


def files_of(r):
    """@return a Source"""
    kind = r.random()
    if kind < 0.4:
        return parquet_source(r, r.choice([0, 1, 3]))
    ending = r.choice(list(TEXT_KINDS))
    parts = [row_texts(r, ending.startswith(".txt")) for _ in range(r.choice([1, 1, 2, 3]))]
    made = [(f"data/train-{i}{ending}", TEXT_KINDS[ending](texts, r)) for i, texts in enumerate(parts)]
    if kind < 0.5 and ending not in (".arrow",):
        archive = r.choice(["zip", "tar"])
        files = {f"all.{archive}": zipped(made, r) if archive == "zip" else tarred(made)}
        return Source(files, numbered(parts), f"{ending} in {archive}", len(files[f"all.{archive}"]))
    files = dict(made)
    return Source(files, numbered(parts), ending, sum(map(len, files.values())))
