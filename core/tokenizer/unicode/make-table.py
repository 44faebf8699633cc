#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the ranges of one Unicode version into the two-stage class table of the scanners.

    make-table.py unicode-16.0.0.txt dlp-unicode-table.c
"""
import sys

CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So "
              "Zs Zl Zp Cc Cf Cs Co").split()
# The order of DlpUnicodeClass in dlp-unicode.h.
OTHER, UPPER, LOWER, CASELESS, MARK, NUMBER, SPACE, NON_ASCII = range(8)
CLASS_OF = {"Lu": UPPER, "Lt": UPPER, "Ll": LOWER, "Lm": CASELESS, "Lo": CASELESS,
            "Mn": MARK, "Mc": MARK, "Me": MARK, "Nd": NUMBER, "Nl": NUMBER, "No": NUMBER}
BLOCK = 128


def read(path):
    categories = bytearray(0x110000)
    spaces, han, version = [], [], "?"
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("#"):
                if "@unicode/unicode-" in line:
                    version = line.split("@unicode/unicode-")[1].split("@")[0]
                continue
            name, span = line.split()
            first, last = (int(x, 16) for x in span.split(".."))
            if name == "White_Space":
                spaces += range(first, last + 1)
            elif name == "Han":
                han.append((first, last))
            else:
                categories[first:last + 1] = bytes([CATEGORIES.index(name)]) * (last + 1 - first)
    return version, categories, set(spaces), han


def rows(values, per_line, text):
    for i in range(0, len(values), per_line):
        yield "  " + ",".join(text(v) for v in values[i:i + per_line]) + ",\n"


def main(source, target):
    version, categories, spaces, han = read(source)
    entries = bytearray(0x110000)
    for point, category in enumerate(categories):
        kind = SPACE if point in spaces else CLASS_OF.get(CATEGORIES[category], OTHER)
        entries[point] = kind << 5 | category
    blocks, index = {}, []
    for i in range(0, len(entries), BLOCK):
        index.append(blocks.setdefault(bytes(entries[i:i + BLOCK]), len(blocks)))
    assert len(blocks) < 65536
    with open(target, "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: MIT AND Unicode-3.0 */\n")
        out.write("/* Made by unicode/make-table.py. */\n#include \"dlp-unicode.h\"\n\n")
        out.write(f"const char dlp_unicode_version[] = \"{version}\";\n\n")
        out.write(f"const guint16 dlp_unicode_index[{len(index)}] = {{\n")
        out.writelines(rows(index, 24, str))
        out.write("};\n\n")
        out.write(f"const guint8 dlp_unicode_blocks[{len(blocks) * BLOCK}] = {{\n")
        out.writelines(rows(b"".join(blocks), 24, str))
        out.write("};\n\n")
        out.write("const guint8 dlp_ascii_class[256] = {\n")
        out.writelines(rows([e >> 5 for e in entries[:128]] + [NON_ASCII] * 128, 24, str))
        out.write("};\n\n")
        out.write(f"const guint dlp_unicode_n_han = {len(han)};\n")
        out.write("const gunichar dlp_unicode_han[][2] = {\n")
        out.writelines(f"  {{ 0x{a:X}, 0x{b:X} }},\n" for a, b in han)
        out.write("};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
