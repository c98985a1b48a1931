#!/usr/bin/env python3
"""Files and archives of seeded content, written by Python's own libraries, are read by Furrow and by them: the rows are equal, or both refuse.

    python tests/oracle/source_formats.py build/dev/bin/source_rows [CASES] [SEED]

Formats whose library is missing are left out with a sentence, but where CTest says that the oracles are installed. Exit code 1 when anything differs.
"""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PROGRAM = sys.argv[1]
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 120
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 30

try:
    import pyarrow
    import pyarrow.ipc
except ImportError:
    pyarrow = None
try:
    import warcio
    import warcio.archiveiterator
    import warcio.statusandheaders
    import warcio.warcwriter
except ImportError:
    warcio = None


def read(path, column=""):
    done = subprocess.run([PROGRAM, str(path), column], capture_output=True)
    if done.returncode:
        sys.exit(f"{path}: the program ended with {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def texts(rng, most=60):
    words = ["run", "größe", "中文", "числа", "a,b", '"quoted"', "tab\tbed", "\\n", "🙂", "[x]", "{y}", "]", "}"]
    return ["".join(rng.choice(words) + rng.choice(["", " "]) for _ in range(rng.randrange(1, 12))) for _ in range(rng.randrange(1, most))]


def member(rng):
    """An ending, the bytes of a data file, and its rows."""
    rows = texts(rng)
    if rng.random() < 0.5:
        ending, plain = ".txt", "".join(row + "\n" for row in rows).encode()
    else:
        ending, plain = ".jsonl", "".join(json.dumps({"id": i, "text": row}, ensure_ascii=rng.random() < 0.5) + "\n" for i, row in enumerate(rows)).encode()
    if rng.random() < 0.2:
        return ending + ".gz", gzip.compress(plain), rows
    return ending, plain, rows


def compressed(rng, plain, has_checksum=False):
    """An ending, and the bytes packed in one or several streams."""
    pieces = [plain]
    if rng.random() < 0.4:
        at = rng.randrange(len(plain) + 1)
        pieces = [plain[:at], plain[at:]]
    ways = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    if pyarrow and not has_checksum:  # it writes zstd without
        ways[".zst"] = lambda data: pyarrow.compress(data, codec="zstd", asbytes=True)
    ending = rng.choice(sorted(ways))
    return ending, b"".join(map(ways[ending], pieces))


def expand(ending, data):
    return {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}[ending](data)


def members(rng):
    """Files of one kind, so that they have one text column."""
    kind, made = None, []
    for i in range(rng.randrange(1, 8)):
        ending, plain, rows = member(rng)
        kind = kind or ending[:4]
        if ending[:4] == kind:
            made.append((f"{rng.choice(['', 'deep/', 'ü/', 'long' * 40 + '/'])}{i:03}{ending}", plain, rows))
    return made


def in_order(made):
    return [row for _, _, rows in sorted(made, key=lambda one: one[0].encode()) for row in rows]


def zip_case(rng, folder):
    path = folder / "a.zip"
    made = members(rng)
    with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])) as out:
        for name, plain, _ in made:
            if rng.random() < 0.3:
                with out.open(name, "w", force_zip64=True) as part:
                    part.write(plain)
            else:
                out.writestr(name, plain)
        out.writestr("photo.jpg", b"no data")
    return path, "", in_order(made)


def tar_case(rng, folder):
    made = members(rng)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as out:
        for name, data, _ in made:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
        folder_info = tarfile.TarInfo("deep")
        folder_info.type = tarfile.DIRTYPE
        out.addfile(folder_info)
    data, ending = plain.getvalue(), ""
    if rng.random() < 0.6:
        ending, data = compressed(rng, data)
    path = folder / ("a.tar" + ending)
    path.write_bytes(data)
    return path, "", [row for _, _, rows in made for row in rows] if ending else in_order(made)


def compressed_case(rng, folder):
    rows = texts(rng, 2000)
    ending, data = compressed(rng, "".join(row + "\n" for row in rows).encode())
    path = folder / ("a.txt" + ending)
    path.write_bytes(data)
    return path, "", rows


def damaged_case(rng, folder):
    """One byte of a packed file is another one, or its end is missing: Furrow may refuse, or read what Python reads."""
    rows = texts(rng, 400)
    ending, data = compressed(rng, "".join(row + "\n" for row in rows).encode(), has_checksum=True)
    data = bytearray(data)
    if rng.random() < 0.5:
        del data[rng.randrange(20, len(data)):]
    else:
        data[rng.randrange(12, len(data))] ^= 1 << rng.randrange(8)
    path = folder / ("a.txt" + ending)
    path.write_bytes(data)
    try:
        wanted = expand(ending, bytes(data)).decode().split("\n")[:-1]
    except Exception:  # each library has its own
        wanted = None
    return path, "", wanted


def packed_or_plain(rng, folder, name, plain):
    ending, data = compressed(rng, plain) if rng.random() < 0.4 else ("", plain)
    path = folder / (name + ending)
    path.write_bytes(data)
    return path


def json_case(rng, folder):
    """A list of objects, alone or as a member of a document; some of them cut."""
    rows = texts(rng, 300)
    objects = [{"n": [i, {"text": "]"}], "text": row} for i, row in enumerate(rows)]
    column, value = "", objects
    if rng.random() < 0.5:
        column, value = "data[].text", {"meta": {"data": [{"text": "no"}]}, "da": "\\\"[", "data": objects, "end": [{"data": []}]}
    plain = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1, "\t"])).encode()
    if column and b"\n" not in plain and rng.random() < 0.5:
        plain = b"\n" + plain
    if rng.random() < 0.2:
        plain = plain[: rng.randrange(2, len(plain))]
    try:
        wanted = json.loads(plain)
        wanted = [row["text"] for row in (wanted["data"] if column else wanted)]
    except ValueError:
        wanted = None
    return packed_or_plain(rng, folder, "a.json", plain), column, wanted


def arrow_case(rng, folder):
    """A stream or a file, in batches of any size, its buffers compressed or not."""
    rows = [None if rng.random() < 0.05 else row for row in texts(rng, 2000)]
    array = pyarrow.array(rows, pyarrow.string())
    array = rng.choice([lambda: array, lambda: array.cast(pyarrow.large_string()), lambda: array.dictionary_encode(), lambda: array.cast(pyarrow.string_view())])()
    table = pyarrow.table({"id": list(range(len(rows))), "text": array})
    sink = io.BytesIO()
    maker = rng.choice([pyarrow.ipc.new_stream, pyarrow.ipc.new_file])
    with maker(sink, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression=rng.choice([None, "lz4", "zstd"]))) as out:
        out.write_table(table, max_chunksize=rng.randrange(1, 900))
    plain = sink.getvalue()
    if rng.random() < 0.2:
        plain = plain[: rng.randrange(16, len(plain) - 8)]
    opener = pyarrow.ipc.open_file if maker is pyarrow.ipc.new_file else pyarrow.ipc.open_stream
    try:
        wanted = [row or "" for row in opener(plain).read_all()["text"].to_pylist()]
    except (pyarrow.ArrowException, OSError):
        wanted = None
    return packed_or_plain(rng, folder, "a.arrow", plain), "text", wanted


def web_case(rng, folder):
    """Samples of several files; some lack the text."""
    rows = texts(rng, 100)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as out:
        for i, row in enumerate(rows):
            parts = [("jpg", rng.randbytes(rng.randrange(1500))), ("txt", row.encode()), ("json", json.dumps({"n": i, "text": row}).encode())]
            rng.shuffle(parts)
            for ending, data in parts:
                info = tarfile.TarInfo(f"{'deep/' * 30 if i % 3 else ''}{i:05}.{ending}")
                info.size = len(data)
                out.addfile(info, io.BytesIO(data))
    return packed_or_plain(rng, folder, "a.tar", plain.getvalue()), rng.choice(["txt", "json.text"]), rows


def warc_case(rng, folder):
    """Records of all kinds, read by warcio."""
    sink = io.BytesIO()
    writer = warcio.warcwriter.WARCWriter(sink, gzip=rng.random() < 0.5)
    for row in texts(rng, 200):
        uri = f"http://example.org/{rng.random()}"
        kind = rng.choice(["conversion", "resource", "text", "html", "missing", "request"])
        body = io.BytesIO(row.encode())
        if kind in ("conversion", "resource"):
            writer.write_record(writer.create_warc_record(uri, kind, payload=body, warc_content_type=rng.choice(["text/plain", "text/plain; charset=utf-8", "image/png"])))
            continue
        head = {"text": ("200 OK", "text/plain"), "html": ("200 OK", "text/html"), "missing": ("404 Not Found", "text/plain"), "request": ("GET / HTTP/1.0", "")}[kind]
        http = warcio.statusandheaders.StatusAndHeaders(head[0], [("Content-Type", head[1])], protocol="HTTP/1.1" if kind != "request" else "")
        writer.write_record(writer.create_warc_record(uri, "request" if kind == "request" else "response", payload=body, http_headers=http))
    wanted = []
    for record in warcio.archiveiterator.ArchiveIterator(io.BytesIO(sink.getvalue())):
        kind = record.rec_type
        content = (record.http_headers if kind == "response" else record.rec_headers).get_header("Content-Type") or ""
        isText = content.split(";")[0] == "text/plain" and (kind in ("conversion", "resource") or (kind == "response" and record.http_headers.get_statuscode() == "200"))
        if isText:
            wanted.append(record.content_stream().read().decode())
    path = folder / ("a.warc" + (".gz" if sink.getvalue().startswith(b"\x1f") else ""))
    path.write_bytes(sink.getvalue())
    return path, "", wanted if wanted else None


CASE_KINDS = [zip_case, tar_case, compressed_case, damaged_case, json_case, web_case] + ([arrow_case] if pyarrow else []) + ([warc_case] if warcio else [])


def main():
    if not pyarrow:
        print("without .zst and Arrow: pyarrow is not installed")
    if not warcio:
        print("without WARC: warcio is not installed (packaging/requirements-oracle.txt)")
    if not (pyarrow and warcio) and "oracles" in os.environ.get("FURROW_MUST_HAVE", "").split(","):
        return 1
    counts = {}
    for case in range(CASES):
        rng = random.Random(f"{SEED}/{case}")
        kind = CASE_KINDS[case % len(CASE_KINDS)]
        with tempfile.TemporaryDirectory() as folder:
            path, column, wanted = kind(rng, pathlib.Path(folder))
            found = read(path, column)
        if wanted is None and "error" in found:
            found = {"rows": None}
        if found.get("rows") != wanted and not (kind is damaged_case and "error" in found):
            print(f"case {case} of seed {SEED} ({kind.__name__}): {str(found)[:600]}\nwanted {str(wanted)[:600]}")
            return 1
        counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
    print(", ".join(f"{count} {name.replace('_case', '')}" for name, count in sorted(counts.items())) + ": no difference")
    return 0


sys.exit(main())
