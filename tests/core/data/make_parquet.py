"""Writes the Parquet and Arrow files that tst_parquet reads: every codec, page version and encoding, nulls, nested columns."""
import gzip, pathlib, sys
import pyarrow as pa, pyarrow.feather, pyarrow.ipc, pyarrow.parquet as pq

out = pathlib.Path(sys.argv[1])
rows = [f"row {i}" for i in range(5000)]
table = pa.table({"id": list(range(5000)), "text": rows})

for codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli"):
    for page in ("1.0", "2.0"):
        pq.write_table(table, out / f"good-{codec}-v{page[0]}.parquet", compression=codec, data_page_version=page, row_group_size=700)
pq.write_table(table, out / "good-plain.parquet", use_dictionary=False, row_group_size=5000, data_page_size=1000)
pq.write_table(table.cast(pa.schema([("id", pa.int64()), ("text", pa.large_string())])), out / "good-large.parquet", row_group_size=999)
pq.write_table(pa.table({"text": pa.array(rows).dictionary_encode()}), out / "good-dictionary.parquet")
required = pa.schema([pa.field("text", pa.string(), nullable=False)])
pq.write_table(pa.table({"text": rows}, schema=required), out / "good-required.parquet", row_group_size=1234)

# one row group of 300 MB: a reader must not hold it
pq.write_table(pa.table({"text": [f"row {i} " + 300 * "x" for i in range(1_000_000)]}), out / "one-group.parquet", row_group_size=1_000_000, compression="zstd", use_dictionary=False)

pq.write_table(pa.table({"text": [None if i % 3 == 0 else rows[i] for i in range(5000)]}), out / "nulls.parquet", row_group_size=700)
pq.write_table(pa.table({"meta": [{"body": row} for row in rows]}), out / "nested.parquet")
pq.write_table(pa.table({"meta.body": ["dotted"] * 5000, "meta": [{"body": row} for row in rows]}), out / "alike.parquet")
pq.write_table(pa.table({"text": [[row] for row in rows], "id": list(range(5000))}), out / "list.parquet")
parts = [[] if i % 7 == 0 else [f"row {i}"] + [f"part {k}" for k in range(i % 3)] for i in range(5000)]
messages = [[{"role": "user", "content": part} for part in row] for row in parts]
pq.write_table(pa.table({"title": rows, "text": parts, "messages": messages}), out / "lists.parquet", row_group_size=700, data_page_size=500)
chats = [[{"role": "user", "content": f"Q {i}"}, {"role": "assistant", "content": None if i % 5 == 4 else f"A {i}\nline"}] * (1 + i % 3) for i in range(3000)]
pq.write_table(pa.table({"messages": chats, "id": list(range(3000))}), out / "chats.parquet", row_group_size=700, data_page_size=500)
pq.write_table(pa.table({"instruction": rows[:10], "input": [None] * 10, "output": [f"{row}!" for row in rows[:10]]}, schema=pa.schema([("instruction", pa.string()), ("input", pa.string()), ("output", pa.string())])), out / "alpaca.parquet")
# lists, small pages and one row a group: Arrow begins each with a page without values
pq.write_table(pa.table({"text": [[row] for row in rows[:50]]}), out / "empty-pages.parquet", row_group_size=1, data_page_size=1)
# a footer that promises 101 rows of 100
pq.write_table(pa.table({"text": rows[:100]}), out / "short.parquet", compression="none")
short = (out / "short.parquet").read_bytes()
footer = len(short) - 8 - int.from_bytes(short[-8:-4], "little")
pieces = short[footer:].split(b"\x16\xc8\x01")  # the numbers of rows of the file, of values of the column, of rows of the row group
assert len(pieces) == 4
(out / "short.parquet").write_bytes(short[:footer] + pieces[0] + b"\x16\xca\x01" + pieces[1] + b"\x16\xc8\x01" + pieces[2] + b"\x16\xca\x01" + pieces[3])
pq.write_table(pa.table({"text": list(range(10))}), out / "numbers.parquet")
pq.write_table(pa.table({"text": pa.array([], pa.string())}), out / "empty.parquet")
good = (out / "good-zstd-v1.parquet").read_bytes()
(out / "cut.parquet").write_bytes(good[: len(good) // 2])
size = int.from_bytes(good[-8:-4], "little")
(out / "footer.parquet").write_bytes(good[: -8 - size] + bytes(100) + good[100 - 8 - size :])
pq.write_table(table.select(["text"]), out / "pages.parquet", compression="none", write_page_checksum=True)
middle = bytearray((out / "pages.parquet").read_bytes())
middle[len(middle) // 3] ^= 1
(out / "pages.parquet").write_bytes(bytes(middle))
# one page that its checksum denies, in the third of five row groups
for kind, column, version in (("flat", rows, "1.0"), ("lists-v1", [[row] for row in rows], "1.0"), ("lists-v2", [[row] for row in rows], "2.0")):
    path = out / f"damaged-{kind}.parquet"
    pq.write_table(pa.table({"text": column}), path, compression="none", use_dictionary=False, data_page_version=version, row_group_size=1000, write_batch_size=100, data_page_size=100, write_page_checksum=True)
    path.write_bytes(path.read_bytes().replace(b"row 2345", b"row 23x5"))


def write_arrow(name, table, writer=pa.ipc.new_stream, rows=700, options=None):
    with writer(str(out / name), table.schema, options=options) as arrow:
        arrow.write_table(table, max_chunksize=rows)


# beside a file with one damaged page one of which no batch can be unpacked, and whose plan is whole
beside = out / "damaged-beside"
beside.mkdir()
(beside / "a.parquet").write_bytes((out / "damaged-flat.parquet").read_bytes())
write_arrow("damaged-beside/b.arrow", pa.table({"text": [f"beside {i}" for i in range(500)]}), pa.ipc.new_file, options=pa.ipc.IpcWriteOptions(compression="zstd"))
(beside / "b.arrow").write_bytes((beside / "b.arrow").read_bytes().replace(b"\x28\xb5\x2f\xfd", bytes(4)))

write_arrow("good-stream.arrow", table)
write_arrow("good-file.arrow", table, pa.ipc.new_file)
write_arrow("good-one-batch.arrows", table, rows=5000)
with pa.ipc.new_stream(str(out / "good-arrow-uneven.arrow"), table.schema) as uneven:
    for begin, end in [(0, 1000), (1000, 2000), (2000, 2130), (2130, 2130), (2130, 2150), (2150, 4900), (4900, 5000)]:
        uneven.write_batch(pa.RecordBatch.from_pylist(table.slice(begin, end - begin).to_pylist(), schema=table.schema))
write_arrow("good-arrow-large.arrow", table.cast(pa.schema([("id", pa.int64()), ("text", pa.large_string())])))
write_arrow("good-arrow-view.arrow", pa.table({"text": pa.array(rows).cast(pa.string_view())}))
write_arrow("good-arrow-dictionary.arrow", pa.table({"text": pa.array(rows).dictionary_encode()}), pa.ipc.new_file)
write_arrow("good-arrow-zstd.arrow", table, options=pa.ipc.IpcWriteOptions(compression="zstd"))
pa.feather.write_feather(table, str(out / "good-feather.feather"), compression="lz4", chunksize=900)
(out / "good-packed.arrow.gz").write_bytes(gzip.compress((out / "good-stream.arrow").read_bytes()))
(out / "good-arrow-without-a-name").write_bytes((out / "good-file.arrow").read_bytes())
write_arrow("lists.arrow", pa.table({"title": rows, "text": parts, "messages": messages}))
write_arrow("nulls.arrow", pa.table({"text": [None if i % 3 == 0 else rows[i] for i in range(5000)]}))
write_arrow("long.arrow", pa.table({"text": pa.array([row + 30 * "-" for row in rows]).cast(pa.string_view())}))
stream = (out / "good-one-batch.arrows").read_bytes()
(out / "cut.arrow").write_bytes(stream[: len(stream) // 2])
arrow_file = (out / "good-file.arrow").read_bytes()
(out / "no-end.arrow").write_bytes(arrow_file[: arrow_file.rindex(bytes([255, 255, 255, 255, 0, 0, 0, 0]))])
numbers = pa.table({"id": list(range(5000))})
write_arrow("numbers.arrow", numbers)
offsets = stream.index(b"".join((5 * i).to_bytes(4, "little") for i in range(1, 9)))  # where the first texts, "row 0" and so on, end
(out / "offsets.arrow").write_bytes(stream[:offsets] + (2**31 - 1).to_bytes(4, "little") + stream[offsets + 4 :])
