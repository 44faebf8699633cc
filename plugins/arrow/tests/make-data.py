#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files that the readers of this plugin are tested with, and what is in them.

usage: make-data.py FOLDER

By pyarrow (plugins/arrow/requirements.txt). For each file NAME.parquet or NAME.arrow of cases.tsv there is
NAME.FORMAT.jsonl: a line for each row, as an array: its number, then its fields as text in the order of the
settings, as pyarrow reads them back from the file, or the kind of bad record with a "!" before it. Files
that are damaged have lines only for the rows before the damage.
"""
import base64
import json
import pathlib
import struct
import sys

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

folder = pathlib.Path(sys.argv[1])
cases = []

TEXTS = ["plain", "", "é ü 日本 \U0001f600", "a\tb\nc\0d", "x" * 300, " ", '"quoted", \\', "0", "null", "\u2028"]


def texts(n):
    return [f"{i} {TEXTS[i % len(TEXTS)]}" if i % 7 else TEXTS[i % len(TEXTS)] for i in range(n)]


# ---- what is expected ----

def show(value):
    """As the tests' rig prints a value; None is null."""
    if value is None:
        return "(null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "%.17g" % value
    if isinstance(value, list):
        return "[" + ",".join(str(item) for item in value) + "]"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return "".join(f"\\x{ord(c):02x}" if c < " " else c for c in str(value))


def pick(row, path):
    for step in path:
        if row is None:
            return None
        row = row[step]
    return row


def expect(name, element, settings, table, columns, bad=None, rows=None):
    """columns: the path of each field, or a function of a row that gives it. bad: kind by row."""
    cases.append((name, element, settings))
    bad = bad or {}
    table = table.to_pylist()
    with open(folder / (name + ".jsonl"), "w", encoding="utf-8") as out:
        for i, row in enumerate(table[:rows]):
            if i in bad:
                line = [str(i), "!" + bad[i]]
            else:
                line = [str(i)] + [show(c(row) if callable(c) else pick(row, c.split("/"))) for c in columns]
            print(json.dumps(line, ensure_ascii=False), file=out)


def parquet(name, table, settings, columns, bad=None, **options):
    path = folder / (name + ".parquet")
    pq.write_table(table, path, **options)
    expect(path.name, "parquet-reader", settings, pq.read_table(path), columns, bad)
    return path


def arrow(name, table, settings, columns, bad=None, stream=False, chunk=None, **options):
    path = folder / (name + ".arrow")
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=chunk)
    read = pa.ipc.open_stream if stream else pa.ipc.open_file
    with open(path, "rb") as file:
        expect(path.name, "arrow-reader", settings, read(file).read_all(), columns, bad)
    return path


# ---- compressions, encodings, pages ----

plain = pa.table({"id": pa.array(range(60), pa.int64()), "text": texts(60)})

for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
    parquet("codec-" + codec, plain, "fields=id:int64", ["text", "id"], compression=codec, row_group_size=17)

encoded = pa.table({
    "text": texts(60),
    "dictionary": [f"key {i % 3}" for i in range(60)],
    "length": texts(60)[::-1],
    "prefix": [f"the same start {i // 4}" for i in range(60)],
    "delta": pa.array([i * i - 900 for i in range(60)], pa.int64()),
    "split": pa.array([i / 8 - 3 for i in range(60)], pa.float64()),
    "split_n": pa.array([i * 1000003 for i in range(60)], pa.int64()),
    "rle": [i % 3 == 0 for i in range(60)],
})
encodings = {"text": "PLAIN", "length": "DELTA_LENGTH_BYTE_ARRAY", "prefix": "DELTA_BYTE_ARRAY",
             "delta": "DELTA_BINARY_PACKED", "split": "BYTE_STREAM_SPLIT", "split_n": "BYTE_STREAM_SPLIT", "rle": "RLE"}
for version in ["1.0", "2.0"]:
    chosen = dict(encodings) if version == "2.0" else {k: v for k, v in encodings.items() if k != "rle"}
    parquet("encodings-v" + version[0], encoded,
            "fields=dictionary,length,prefix,delta:int64,split:double,split_n:int64,rle:boolean",
            ["text", "dictionary", "length", "prefix", "delta", "split", "split_n", "rle"],
            data_page_version=version, use_dictionary=["dictionary"], column_encoding=chosen, data_page_size=128,
            row_group_size=40, compression="snappy")

# A dictionary that becomes too large, checksums, an index of pages.
parquet("pages", plain, "fields=id:int64", ["text", "id"], dictionary_pagesize_limit=256, data_page_size=200,
        write_page_checksum=True, write_page_index=True, write_batch_size=8)

# ---- types ----

N = 12


def cycle(values):
    return [values[i % len(values)] for i in range(N)]


typed = pa.table({
    "text": texts(N),
    "large": pa.array(texts(N), pa.large_string()),
    "bytes": pa.array([t.encode() for t in texts(N)], pa.binary()),
    "fixed": pa.array([b"%04d" % i for i in range(N)], pa.binary(4)),
    "dict8": pa.array(cycle(["a", "b", None])).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "dict32": pa.array(cycle(["one", "two"])).dictionary_encode(),
    "i8": pa.array(cycle([-128, 127, 0]), pa.int8()), "u8": pa.array(cycle([0, 255]), pa.uint8()),
    "i16": pa.array(cycle([-32768, 32767]), pa.int16()), "u16": pa.array(cycle([0, 65535]), pa.uint16()),
    "i32": pa.array(cycle([-2**31, 2**31 - 1]), pa.int32()), "u32": pa.array(cycle([0, 2**32 - 1]), pa.uint32()),
    "i64": pa.array(cycle([-2**63, 2**63 - 1]), pa.int64()), "u64": pa.array(cycle([0, 2**64 - 1]), pa.uint64()),
    "f16": pa.array(cycle([0.5, -65504.0, 6e-8, 1e-3]), pa.float16()),
    "f32": pa.array(cycle([0.1, -3.5e38 / 2, None]), pa.float32()), "f64": pa.array(cycle([0.1, 1e300, -0.0, None])),
    "bool": pa.array(cycle([True, False, None])),
    "list": pa.array(cycle([[1, 2, 3], [], [65535]]), pa.list_(pa.int32())),
    "large_list": pa.array(cycle([[2**32 - 1], [0, 1], None]), pa.large_list(pa.int64())),
    "pair": pa.array(cycle([[1, 2], [3, 4]]), pa.list_(pa.uint16(), 2)),
    "s": pa.array(cycle([{"a": 1, "b": {"c": "deep"}}, None, {"a": None, "b": None}]),
                  pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])),
    "x.y": pa.array(texts(N)),
    "nothing": pa.array([None] * N, pa.null()),
    "when": pa.array([1] * N, pa.timestamp("ms")),
})
settings = ("fields=large,bytes,fixed:binary,dict8,dict32,i8:int64,u8:uint64,i16:int64,u16:double,i32:double,"
            "u32:int64,i64:int64,u64:uint64,f16:double,f32:double?,f64:double?,bool:boolean?,list:list<uint16>,"
            "large_list:list<uint32>?,pair:list<uint32>,s.a:int64?,s.b.c,x.y,nothing,absent:string?")
columns = ["text", "large", "bytes", "fixed", "dict8", "dict32", "i8", "u8", "i16", lambda r: float(r["u16"]),
           lambda r: float(r["i32"]), "u32", "i64", "u64", lambda r: float(r["f16"]), "f32", "f64", "bool", "list",
           "large_list", "pair", "s/a", "s/b/c", "x.y", "nothing", lambda r: None]
parquet("types", typed, settings, columns, row_group_size=5)
arrow("types", typed, settings, columns, chunk=5)
arrow("types-stream", typed, settings, columns, stream=True, chunk=5)

# Where no type is said, numbers are text.
plain_text = "fields=i64,u64,f32,bool,i8"
as_text = ["text", "i64", "u64", lambda r: None if r["f32"] is None else "%.15g" % r["f32"]
           if float("%.15g" % r["f32"]) == r["f32"] else "%.17g" % r["f32"], "bool", "i8"]
parquet("untyped", typed, plain_text, as_text, compression="none")
# No text at all.
parquet("tokens", typed, "field= fields=list:list<uint32>,text", ["list", "text"])

# Lists of numbers, as they lie in a column and otherwise.
LISTS = 12


def reals(name, digits=9):
    return lambda r: "[" + ",".join("%.*g" % (digits, item) for item in r[name]) + "]"


lists = pa.table({
    "i8": pa.array([[i - 6] * (i % 4) for i in range(LISTS)], pa.list_(pa.int8())),
    "i32": pa.array([[i * 1000003 - 2**31 + k for k in range(i % 5)] for i in range(LISTS)], pa.list_(pa.int32())),
    "i64": pa.array([[2**62 - i] * (i % 3) for i in range(LISTS)], pa.large_list(pa.int64())),
    "ids": pa.array([[k * 7919 for k in range(i % 7)] for i in range(LISTS)], pa.list_(pa.int64())),
    "u16": pa.array([None if i % 4 == 1 else [65535 - i] * (i % 6) for i in range(LISTS)], pa.list_(pa.uint16())),
    "u32": pa.array([[2**32 - 1 - i, i] for i in range(LISTS)], pa.list_(pa.uint32(), 2)),
    "f32": pa.array([[i / 8, -i / 4] * (i % 3) for i in range(LISTS)], pa.list_(pa.float32())),
    "f64": pa.array([[i * 1e100, -0.125][:i % 3] for i in range(LISTS)], pa.list_(pa.float64())),
})
list_settings = ("field= fields=a=i8:i32[],b=i32:i32[],c=i64:i64[],d=ids:i32[],e=u16:u16[]?,f=u16:u32[]?,g=u32:u32[],"
                 "h=f32:f32[],i=f32:f64[],j=f64:f64[],k=i8:f32[],l=ids:u16[]")
list_columns = ["i8", "i32", "i64", "ids", "u16", "u16", "u32", reals("f32"), reals("f32", 17),
                reals("f64", 17), reals("i8"), "ids"]
parquet("lists", lists, list_settings, list_columns, row_group_size=5)
arrow("lists", lists, list_settings, list_columns, chunk=5)
parquet("lists-bad", pa.table({
    "ids": pa.array([[1], [2**31], [-2**31 - 1], [1, None], None, [2**31 - 1]], pa.list_(pa.int64())),
    "x": pa.array([[1], [1], [1], [1], [1], [1e39]], pa.list_(pa.float64())),
}), "field= fields=tokens=ids:i32[],x:f32[]", ["ids", reals("x")], {1: "range", 2: "range", 3: "null", 4: "null", 5: "range"})

# What Megatron's golden files in tests/data/formats hold.
documents = pa.table({"input_ids": pa.array([[1, 2, 3, 50256], [7, 8, 50256], [9, 10, 11, 12, 13, 50256]],
                                            pa.list_(pa.int64()))})
parquet("documents", documents, "field= fields=tokens=input_ids:i32[]", ["input_ids"])
arrow("documents", documents, "field= fields=tokens=input_ids:i32[]", ["input_ids"])

views = pa.table({"text": pa.array(texts(N), pa.string_view()), "bytes": pa.array([t.encode() for t in texts(N)],
                                                                                 pa.binary_view())})
arrow("views", views, "fields=bytes", ["text", "bytes"], chunk=5)

# ---- bad records ----

bad = pa.table({
    "text": pa.array([b"good", None, b"\xff", b"a\xc3", b"end", b"ok", b"x", b"y", b"z", b"w", b"v" * 100, b"last"],
                     pa.binary()),
    "n": pa.array([1, 2, 3, 4, None, -1, 2**40, 5, 6, 7, 8, 9], pa.int64()),
    "f": pa.array([1.0, 2, 3, 4, 5, 6, 7, 1.5, float("inf"), 1e19, 3, -0.0]),
    "ids": pa.array([[1]] * 4 + [[1], [1], [1], [1], [1], [1], [2], [65535]], pa.list_(pa.int64())),
})
bad_kinds = {1: "null", 2: "utf-8", 3: "utf-8", 4: "null", 7: "type", 8: "type", 9: "range", 10: "too-long"}
bad_settings = "max-record-bytes=64 fields=n:int64,f:int64,ids:list<uint16>"
bad_columns = ["text", "n", lambda r: int(r["f"]), "ids"]
parquet("bad", bad, bad_settings, bad_columns, bad_kinds, row_group_size=5)
arrow("bad", bad, bad_settings, bad_columns, bad_kinds, chunk=5)
items = pa.table({"text": texts(4), "ids": pa.array([[1, None], [-1], [65536], [1, 2]], pa.list_(pa.int32()))})
parquet("bad-items", items, "fields=ids:list<uint16>", ["text", "ids"], {0: "null", 1: "range", 2: "range"})

# ---- nothing in them ----

none = plain.slice(0, 0)
parquet("no-groups", none, "", ["text"])
arrow("no-batches", none, "", ["text"])
arrow("no-batches-stream", none, "", ["text"], stream=True)
(folder / "no-byte.parquet").write_bytes(b"")
expect("no-byte.parquet", "parquet-reader", "", none, ["text"])
(folder / "no-byte.arrow").write_bytes(b"")
expect("no-byte.arrow", "arrow-reader", "", none, ["text"])

with pq.ParquetWriter(folder / "empty-groups.parquet", plain.schema) as writer:
    for part in [none, plain.slice(0, 5), none, none, plain.slice(5, 5), none]:
        writer.write_table(part, row_group_size=100)
read = pq.ParquetFile(folder / "empty-groups.parquet")
assert read.num_row_groups == 6, read.num_row_groups
expect("empty-groups.parquet", "parquet-reader", "", read.read(), ["text"])

with pa.ipc.new_file(str(folder / "empty-batches.arrow"), plain.schema) as writer:
    for part in [none, plain.slice(0, 5), none, none, plain.slice(5, 5), none]:
        for batch in part.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=plain.schema)]:
            writer.write_batch(batch)
with open(folder / "empty-batches.arrow", "rb") as file:
    expect("empty-batches.arrow", "arrow-reader", "", pa.ipc.open_file(file).read_all(), ["text"])

# ---- Arrow's own ----

for codec in [None, "lz4", "zstd"]:
    for stream in [False, True]:
        arrow(f"ipc-{codec}" + ("-stream" if stream else ""), plain, "fields=id:int64", ["text", "id"], stream=stream,
              chunk=17, compression=codec)
feather.write_feather(plain, folder / "feather.arrow", compression="lz4", chunksize=25)
expect("feather.arrow", "arrow-reader", "fields=id:int64", feather.read_table(folder / "feather.arrow"), ["text", "id"])
# Alignments and metadata as they were before 1.0.
arrow("legacy-stream", plain, "fields=id:int64", ["text", "id"], stream=True, chunk=17, use_legacy_format=True,
      metadata_version=pa.ipc.MetadataVersion.V4)

# A dictionary that grows, and one that is another in each record batch.
batches = [pa.record_batch({"text": pa.array(words).dictionary_encode()})
           for words in [["a", "b", "a"], ["a", "b", "c"], ["c", "d"]]]
kinds = {"delta": dict(emit_dictionary_deltas=True), "replaced": {}}
for kind, options in kinds.items():
    parts = batches if kind == "replaced" else [
        pa.record_batch({"text": pa.DictionaryArray.from_arrays(pa.array(i, pa.int32()), pa.array(d))})
        for i, d in [([0, 1, 0], ["a", "b"]), ([0, 1, 2], ["a", "b", "c"]), ([2, 3], ["a", "b", "c", "d"])]]
    path = folder / f"dictionary-{kind}.arrow"
    with pa.ipc.new_stream(str(path), parts[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for part in parts:
            writer.write_batch(part)
    with open(path, "rb") as file:
        expect(path.name, "arrow-reader", "", pa.ipc.open_stream(file).read_all(), ["text"])

# ---- damaged ----

def damaged(name, data, reader, rows, settings="", table=plain, columns=("text",)):
    (folder / name).write_bytes(data)
    expect(name, reader, (settings + " damaged").strip(), table, list(columns), rows=rows)


# Pages of 10 rows: the one of row 25 does not have its checksum.
options = dict(compression="none", use_dictionary=False, write_page_checksum=True, write_batch_size=10,
               write_statistics=False, max_rows_per_page=10)
pq.write_table(plain, folder / "scratch", **options)
whole = (folder / "scratch").read_bytes()
at = whole.index(TEXTS[5].join(["25", ""]).encode())
damaged("damaged-page.parquet", whole[:at] + b"X" + whole[at + 1:], "parquet-reader", 20, "fields=id:int64", plain,
        ["text", "id"])
pq.write_table(plain, folder / "scratch", row_group_size=15, **options)
whole = (folder / "scratch").read_bytes()
at = whole.index(TEXTS[5].join(["25", ""]).encode())
damaged("damaged-page-in-group.parquet", whole[:at] + b"X" + whole[at + 1:], "parquet-reader", 25, "fields=id:int64",
        plain, ["text", "id"])
damaged("cut-footer.parquet", whole[:-30], "parquet-reader", 0)
damaged("long-footer.parquet", whole[:-8] + struct.pack("<I", 2**32 - 16) + b"PAR1", "parquet-reader", 0)
damaged("footer-of-zeros.parquet", whole[:-200] + bytes(192) + whole[-8:], "parquet-reader", 0)
damaged("no-parquet.parquet", b'{"text":"JSON lines"}\n' * 5, "parquet-reader", 0)
damaged("short.parquet", b"PAR1", "parquet-reader", 0)
# The column says that it is compressed by LZO, which no one writes any more.
pq.write_table(plain, folder / "scratch", compression="snappy", write_statistics=False)
whole = (folder / "scratch").read_bytes()
assert whole.count(b"\x18\x04text\x15\x02") == 1
damaged("lzo.parquet", whole.replace(b"\x18\x04text\x15\x02", b"\x18\x04text\x15\x06"), "parquet-reader", 0)

data = (folder / "ipc-zstd.arrow").read_bytes()
damaged("cut.arrow", data[:-40], "arrow-reader", 0)
data = (folder / "ipc-zstd-stream.arrow").read_bytes()
damaged("cut-stream.arrow", data[:-60], "arrow-reader", 51)
damaged("no-arrow.arrow", b'{"text":"JSON lines"}\n' * 5, "arrow-reader", 0)
# The first text of the second batch says that it goes on far behind the others.
with pa.ipc.new_file(str(folder / "scratch"), plain.schema) as writer:
    for start in range(0, 60, 17):
        writer.write_batch(pa.RecordBatch.from_pylist(plain.slice(start, 17).to_pylist(), schema=plain.schema))
data = bytearray((folder / "scratch").read_bytes())
at = data.index("17 0".encode())
sizes = [len(text.encode()) for text in texts(60)[17:20]]
offsets = data.rindex(struct.pack("<iii", 0, sizes[0], sizes[0] + sizes[1]), 0, at)
data[offsets + 4:offsets + 8] = struct.pack("<i", 10**6)
damaged("broken-offsets.arrow", bytes(data), "arrow-reader", 17)

# Two rows of the same text of 2 MiB, in a few bytes.
pq.write_table(pa.table({"text": ["x" * 2**21] * 2}), folder / "bomb.parquet", compression="zstd")

# ---- refused ----

feather.write_feather(plain.select(["text"]), folder / "refused-feather-1.arrow", version=1)


class Keys(pe.KmsClient):
    """The key is written down beside what it is for."""
    def wrap_key(self, key_bytes, master_key_identifier):
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return base64.b64decode(wrapped_key)


factory = pe.CryptoFactory(lambda config: Keys())
for name, plaintext in [("footer", False), ("column", True)]:
    config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["text"]}, plaintext_footer=plaintext)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
    with pq.ParquetWriter(folder / f"refused-encrypted-{name}.parquet", plain.schema,
                          encryption_properties=properties) as writer:
        writer.write_table(plain.slice(0, 3))

# ---- for resuming ----

resume = pa.table({"text": [f"row {i}" if i % 9 != 8 else None for i in range(40)],
                   "id": pa.array(range(40), pa.int64())})
parquet("resume-groups", resume, "fields=id:int64", ["text", "id"],
        {i: "null" for i in range(8, 40, 9)}, row_group_size=7, data_page_size=64)
parquet("resume-one-group", resume, "fields=id:int64", ["text", "id"], {i: "null" for i in range(8, 40, 9)},
        data_page_size=64, write_batch_size=4)
arrow("resume-file", resume, "fields=id:int64", ["text", "id"], {i: "null" for i in range(8, 40, 9)}, chunk=7)
arrow("resume-stream", resume, "fields=id:int64", ["text", "id"], {i: "null" for i in range(8, 40, 9)}, chunk=7,
      stream=True)

(folder / "scratch").unlink()
with open(folder / "cases.tsv", "w", encoding="utf-8") as out:
    for case in cases:
        print("\t".join(case), file=out)
