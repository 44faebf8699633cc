#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns normalizer.txt into the tables of dlp-normalizer-unicode.h.

    make-normalizer-table.py normalizer.txt dlp-normalizer-table.c
"""
import sys
from collections import defaultdict

PAGE = 64
MAYBE, FIRST_MAPPING = 256, 512
PAIR_SLOTS = 2048
# The order of DlpGrapheme in dlp-normalizer-unicode.h.
GRAPHEMES = ["Other", "Control", "CR", "LF", "Extend", "ZWJ", "SpacingMark", "Prepend",
             "Regional_Indicator", "L", "V", "T", "LV", "LVT"]
PICTOGRAPHIC, CONSONANT, LINKER, NON_JOINER = 16, 32, 64, 128
SYLLABLES = range(0xAC00, 0xD7A4)
VOWELS, TAILS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)
# What Nmt drops and turns into spaces, and which letters BertNormalizer takes for Chinese.
NMT = [(0x1, 0x1F), (0x7F, 0x7F), (0x8F, 0x8F), (0x9F, 0x9F), (0x1680, 0x1680), (0x200B, 0x200F),
       (0x2028, 0x2029), (0x2581, 0x2581), (0xFEFF, 0xFEFF), (0xFFFD, 0xFFFD)]
CHINESE = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
           (0x2A700, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)]
SPACES = [(0x9, 0xA), (0xD, 0xD), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
          (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]

# What a block of bytes is looked through for before NFC looks at its characters: the high and low
# half of a first byte, then those of the second and of the third. They must take in all that NFC may
# change; what else they take in costs time, so that it should be rare in texts.
ANY = "0123456789ABCDEF"
NFC_BOXES = [
    ("CD", "CD", ANY, ANY, ANY, ANY), ("CD", "E2", "8", "34567", ANY, ANY),
    ("D", "67F", ANY, ANY, ANY, ANY), ("D", "89B", "9", ANY, ANY, ANY),
    ("D", "9", "8", "BCDEF", ANY, ANY), ("D", "9B", "AB", "0123456789ABCD", ANY, ANY),
    ("E", "0", ANY, ANY, ANY, ANY), ("E", "1", "89A", ANY, ANY, ANY),
    ("E", "1", "B", "0123456789CDEF", ANY, ANY), ("E", "2", "8", "0", "8", "01"),
    ("E", "2", "8AB", "34578BC", ANY, ANY), ("E", "3", "8", "0", "A", "ABCDEF"),
    ("E", "3", "8", "2", "9", "9A"), ("E", "AF", "89A", ANY, ANY, ANY),
    ("F", "0", "9", "016BDE", ANY, ANY), ("EF", "F0", "AB", "8F", "A", ANY)]


def span(text):
    first, last = (int(x, 16) for x in text.split(".."))
    return range(first, last + 1)


def flatten(ranges):
    return {c for first, last in ranges for c in range(first, last + 1)}


class Data:
    def __init__(self, path):
        self.ccc, self.canonical, self.compatible, self.lower = {}, {}, {}, {}
        self.graphemes = bytearray(0x110000)
        self.sets = defaultdict(set)
        for line in open(path, encoding="ascii"):
            if not line.startswith("#"):
                self.add(*line.split())
        for c in SYLLABLES:
            name = "LVT" if (c - SYLLABLES[0]) % 28 else "LV"
            self.graphemes[c] = GRAPHEMES.index(name)
        # The only one of Extend that is not of Indic_Conjunct_Break's Extend or Linker.
        self.graphemes[0x200C] |= NON_JOINER

    def add(self, name, *cells):
        if name == "class":
            self.ccc.update(dict.fromkeys(span(cells[1]), int(cells[0])))
        elif name in ("canonical", "compatible"):
            getattr(self, name)[int(cells[0], 16)] = [int(x, 16) for x in cells[1:]]
        elif name in ("compatible-run", "lower"):
            points = span(cells[0])[::int(cells[1])]
            for c in points:
                to = int(cells[2], 16) + c - points[0]
                if name == "lower":
                    self.lower[c] = to
                else:
                    self.compatible[c] = [to]
        elif name == "grapheme":
            for c in span(cells[1]):
                self.graphemes[c] = GRAPHEMES.index(cells[0])
        elif name in ("pictographic", "consonant", "linker"):
            for c in span(cells[0]):
                self.graphemes[c] |= {"pictographic": PICTOGRAPHIC, "consonant": CONSONANT,
                                      "linker": LINKER}[name]
        else:
            self.sets[name].update(span(cells[0]))

    def decompose(self, c, compatible):
        parts = self.canonical.get(c) or (self.compatible.get(c) if compatible else None)
        if parts is None:
            return [c]
        return [x for part in parts for x in self.decompose(part, compatible)]

    def pairs(self):
        """Which two points compose to which one; Hangul syllables aside."""
        for c, parts in self.canonical.items():
            if len(parts) == 2 and c not in self.sets["excluded"] and \
                    c not in self.ccc and parts[0] not in self.ccc:
                yield parts[0], parts[1], c


def ascii_kind(points):
    kinds = {c: "CONTROLS" if c < 32 or c == 127 else "ANY" for c in points if c < 128}
    return "DLP_ASCII_" + min(kinds.values(), default="NONE")


class Writer:
    def __init__(self, out):
        self.out = out

    def array(self, kind, name, values):
        self.out.write(f"static const {kind} {name}[{len(values)}] = {{\n")
        for i in range(0, len(values), 16):
            self.out.write("  " + ",".join(str(v) for v in values[i:i + 16]) + ",\n")
        self.out.write("};\n\n")

    def pages(self, name, values, kind):
        """A two-level table of a value for each point up to the last that is not 0."""
        n = (max(values) // PAGE if values else 0) + 1
        pages, index = {(0,) * PAGE: 0}, []
        for page in range(n):
            content = tuple(values.get(page * PAGE + i, 0) for i in range(PAGE))
            index.append(pages.setdefault(content, len(pages)))
        assert len(pages) <= 256, name
        self.array("guint8", f"{name}_index", index)
        self.array(kind, f"{name}_pages", [x for content in pages for x in content])
        return n

    def set(self, name, points):
        n = max(points) // PAGE + 1
        masks = [0] * n
        for c in points:
            masks[c // PAGE] |= 1 << c % PAGE
        distinct = {0: 0}
        index = [distinct.setdefault(mask, len(distinct)) for mask in masks]
        assert len(distinct) <= 256, name
        self.array("guint8", f"{name}_index", index)
        self.array("guint64", f"{name}_masks", [f"0x{mask:x}u" for mask in distinct])
        self.out.write(f"const DlpPageSet dlp_{name}_set = {{ {n}, {ascii_kind(points)}, "
                       f"{name}_index, {name}_masks }};\n\n")


def write_mappings(writer, data, seconds):
    """For each point: combining class, or where its decomposition is among the mappings."""
    pool, places = bytearray(), {}
    for compatible in (False, True):
        values = {}
        for c in {*data.ccc, *data.canonical, *seconds} | \
                ({*data.compatible} if compatible else set()):
            values[c] = data.ccc.get(c, 0) | (MAYBE if c in seconds else 0)
            parts = data.decompose(c, compatible)
            if parts != [c]:
                text = "".join(map(chr, parts)).encode()
                if text not in places:
                    places[text] = len(pool)
                    pool += bytes([len(text)]) + text
                values[c] = FIRST_MAPPING + places[text]
                assert values[c] < 65536
        name = "compatible" if compatible else "canonical"
        n = writer.pages(name, values, "guint16")
        writer.out.write(f"const DlpPageTable dlp_{name}_table = "
                         f"{{ {n}, {name}_index, {name}_pages }};\n\n")
    writer.out.write(f"const guint8 dlp_mappings[{len(pool)}] = {{\n")
    for i in range(0, len(pool), 24):
        writer.out.write("  " + ",".join(map(str, pool[i:i + 24])) + ",\n")
    writer.out.write("};\n\n")


def write_forms(writer, data, pairs):
    marks = set(data.ccc)
    canonical, compatible = set(data.canonical), {*data.canonical, *data.compatible}
    composed = {c for _, _, c in pairs}
    seconds = {b for _, b, _ in pairs} | {*VOWELS, *TAILS}
    # A compatible decomposition may also be that of what a canonical one leads to.
    changed = {c for c in compatible if data.decompose(c, True) != data.decompose(c, False)}
    nfc = marks | seconds | (canonical - composed)
    writer.set("nfc", nfc)
    write_boxes(writer, NFC_BOXES, nfc)
    writer.set("nfd", marks | canonical | set(SYLLABLES))
    writer.set("nfkc", marks | seconds | (canonical - composed) | changed)
    writer.set("nfkd", marks | compatible | set(SYLLABLES))
    return seconds


def in_box(text, box):
    """Whether the bytes begin as the box has it; what is behind a short character is any byte."""
    for i, byte in enumerate(text[:3]):
        if f"{byte >> 4:X}" not in box[2 * i] or f"{byte & 15:X}" not in box[2 * i + 1]:
            return False
    return all(half == ANY for half in box[2 * len(text):])


def write_boxes(writer, boxes, points):
    """For each half of three bytes, the boxes that have it: a bit for each, eight in a table."""
    for c in points:
        assert any(in_box(chr(c).encode(), box) for box in boxes), hex(c)
    # The first eight do not ask for the third byte.
    assert len(boxes) == 16 and all(box[4:] == (ANY, ANY) for box in boxes[:8])
    rows = []
    for first, places in (0, range(4)), (8, range(6)):
        for place in places:
            rows.append([sum(1 << i for i, box in enumerate(boxes[first:first + 8])
                             if f"{half:X}" in box[place]) for half in range(16)])
    writer.out.write(f"const guint8 dlp_nfc_boxes[{len(rows)}][16] = {{\n")
    for row in rows:
        writer.out.write(f"  {{ {', '.join(map(str, row))} }},\n")
    writer.out.write("};\n\n")


def write_pairs(writer, pairs):
    slots = [0] * PAIR_SLOTS
    for first, second, composed in pairs:
        at = (first * 0x9E3779B1 + second * 0x85EBCA6B & 0xFFFFFFFF) >> 21
        while slots[at]:
            at = (at + 1) % PAIR_SLOTS
        slots[at] = first << 42 | second << 21 | composed
    writer.out.write(f"const guint64 dlp_pairs[{PAIR_SLOTS}] = {{\n")
    for i in range(0, PAIR_SLOTS, 6):
        writer.out.write("  " + ",".join(f"0x{x:x}u" for x in slots[i:i + 6]) + ",\n")
    writer.out.write("};\n\n")


def write_lower(writer, data):
    deltas = sorted({to - c for c, to in data.lower.items()})
    n = writer.pages("lower", {c: deltas.index(to - c) + 1 for c, to in data.lower.items()},
                     "guint8")
    writer.out.write(f"const guint dlp_lower_n = {n};\n"
                     "const guint8 *const dlp_lower_index = lower_index;\n"
                     "const guint8 *const dlp_lower_pages = lower_pages;\n"
                     f"const gint32 dlp_lower_deltas[{len(deltas) + 1}] = "
                     f"{{ 0, {', '.join(map(str, deltas))} }};\n\n")


def main(source, target):
    data = Data(source)
    pairs = list(data.pairs())
    with open(target, "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: MIT AND Unicode-3.0 */\n"
                  "/* Made by unicode/make-normalizer-table.py. */\n"
                  "#include \"dlp-normalizer-unicode.h\"\n\n")
        writer = Writer(out)
        seconds = write_forms(writer, data, pairs)
        write_mappings(writer, data, seconds)
        write_pairs(writer, pairs)
        write_lower(writer, data)
        writer.set("mark", data.sets["mark"])
        writer.set("nonspacing", data.sets["nonspacing"])
        writer.set("unclean", data.sets["control"] | flatten(SPACES) | {0xFFFD})
        writer.set("nmt", flatten(NMT))
        writer.set("chinese", flatten(CHINESE))
        n = writer.pages("grapheme", {c: x for c, x in enumerate(data.graphemes) if x}, "guint8")
        out.write(f"const guint dlp_grapheme_n = {n};\n"
                  "const guint8 *const dlp_grapheme_index = grapheme_index;\n"
                  "const guint8 *const dlp_grapheme_pages = grapheme_pages;\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
