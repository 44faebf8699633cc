#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns tokenizer cases from JSON lines into the form that test-cases.c reads.

    convert.py tokenizer-cases.jsonl OUT_DIR

In: {"encoding", "text", "ids", "mode", "why", "ref", ...}, where ref is the program that made the ids.
Out: a file for each encoding, a line for each case: the mode (text or specials), the bytes of the text
in hexadecimal, the ids; a byte or id that is repeated N times is written once with *N.
"""
import itertools
import json
import pathlib
import sys

ENCODINGS = ("gpt2", "cl100k_base", "o200k_base")
MODES = {"ordinary": "text", "allowed_special=all": "specials"}


def pack(values, text):
    words = []
    for value, run in itertools.groupby(values):
        count = len(list(run))
        words += [text(value)] * count if count < 4 else [f"{text(value)}*{count}"]
    return " ".join(words)


def main(source, target):
    out = {name: [] for name in ENCODINGS}
    refs = {name: set() for name in ENCODINGS}
    with open(source, encoding="utf-8") as file:
        for case in map(json.loads, file):
            if case["encoding"] in ENCODINGS:
                text = pack(case["text"].encode("utf-8"), "{:02x}".format)
                ids = pack(case["ids"], str)
                out[case["encoding"]].append(f"{MODES[case['mode']]}|{text}|{ids}\n")
                refs[case["encoding"]].add(case["ref"])
    for name, lines in out.items():
        with open(pathlib.Path(target) / f"{name}.cases", "w", encoding="ascii") as file:
            file.write("# SPDX-License-Identifier: MIT\n")
            file.write(f"# mode|text|ids, made by convert.py; ids by {', '.join(sorted(refs[name]))}\n")
            file.writelines(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
