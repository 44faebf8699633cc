#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the scripts of one Unicode version into the two-stage table of the pre-tokenizer UnicodeScripts.

    make-scripts.py scripts-9.0.0.txt dlp-script-table.c

As that pre-tokenizer has it: the Japanese scripts and the mark of long vowels are Han, a space and what
belongs to no script go with any."""
import sys

BLOCK = 128
ANY = 0
AS_HAN = {"Hiragana", "Katakana"}


def read(path):
    numbers, scripts = {}, bytearray(0x110000)
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("#"):
                continue
            name, span = line.split()
            first, last = (int(x, 16) for x in span.split(".."))
            number = numbers.setdefault("Han" if name in AS_HAN else name, len(numbers) + 1)
            scripts[first:last + 1] = bytes([number]) * (last + 1 - first)
    scripts[0x30FC] = numbers["Han"]
    scripts[0x20] = ANY
    return scripts


def rows(values, per_line):
    for i in range(0, len(values), per_line):
        yield "  " + ",".join(str(v) for v in values[i:i + per_line]) + ",\n"


def main(source, target):
    scripts = read(source)
    blocks, index = {}, []
    for i in range(0, len(scripts), BLOCK):
        index.append(blocks.setdefault(bytes(scripts[i:i + BLOCK]), len(blocks)))
    with open(target, "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: MIT AND Unicode-3.0 */\n")
        out.write("/* Made by unicode/make-scripts.py. */\n#include \"dlp-splitter-private.h\"\n\n")
        out.write(f"const guint16 dlp_script_index[{len(index)}] = {{\n")
        out.writelines(rows(index, 24))
        out.write("};\n\n")
        out.write(f"const guint8 dlp_script_blocks[{len(blocks) * BLOCK}] = {{\n")
        out.writelines(rows(b"".join(blocks), 24))
        out.write("};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
