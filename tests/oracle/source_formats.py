#!/usr/bin/env python3
"""Files and archives of seeded content, written by Python's own libraries, are read by Furrow and by them: the rows are equal, or both refuse.

    python tests/oracle/source_formats.py build/dev/bin/source_rows [CASES] [SEED]

Formats whose library is missing are left out with a sentence. Exit code 1 when anything differs.
"""
import bz2
import gzip
import io
import json
import lzma
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
except ImportError:
    pyarrow = None


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
    return path, "", in_order(made)


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


CASE_KINDS = [zip_case, tar_case, compressed_case, damaged_case]


def main():
    if not pyarrow:
        print("without .zst: pyarrow is not installed")
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
