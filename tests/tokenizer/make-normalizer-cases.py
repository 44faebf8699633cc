#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes cases/normalizer.json: what Hugging Face's tokenizers 0.23.3 and sentencepiece 0.2.3 make of
texts.

    make-normalizer-cases.py > cases/normalizer.json

Each normalizer has cases, pairs of a text and its result, and a SHA-256 of what comes of every code
point c, alone and as "e{c}\\u0323\\u0301b", each result followed by a newline.
"""
import base64
import hashlib
import json
import os
import random
import sys

import sentencepiece
from tokenizers import Regex, normalizers as n

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peers"))
from normalizer_texts import (ALPHABETS, POINTS, RULES, charsmap_of, make_charsmap,  # noqa: E402
                              make_model, mixed)

CASES = 24


def describe(normalizer):
    return json.loads(normalizer.__getstate__())


def texts(rng):
    for alphabet in ALPHABETS:
        yield "".join(rng.choice(alphabet) for _ in range(40))
    while True:
        length = rng.randrange(1, 30)
        yield mixed(rng, length) if rng.random() < 0.5 else \
            "".join(rng.choices(rng.choice(ALPHABETS), k=length))


def hash_points(normalizer):
    sha = hashlib.sha256()
    for form in "{}", "e{}\u0323\u0301b":
        for c in POINTS:
            sha.update(normalizer.normalize_str(form.format(chr(c))).encode() + b"\n")
    return sha.hexdigest()


def make_pairs(rng, normalize):
    some = texts(rng)
    return [(text, normalize(text)) for text in
            ["", " ", "a", "aaaa", " \t\u00a0"] + [next(some) for _ in range(CASES)]]


def main():
    cases = [n.NFC(), n.NFD(), n.NFKC(), n.NFKD(), n.Lowercase(), n.StripAccents(), n.Nmt(),
             n.Strip(), n.Strip(True, False), n.Strip(False, True), n.ByteLevel(), n.Prepend("\u2581"),
             n.Prepend(""), n.Replace(" ", "\u2581"), n.Replace("a", ""), n.Replace("aa", "a"),
             n.Replace("\u0301", "xyz0123456789"), n.Replace("", "-"), n.Replace(Regex(" {2,}"), " "),
             n.Replace(Regex("a*"), "-"), n.Replace(Regex("^|$"), "-"), n.BertNormalizer(),
             n.BertNormalizer(lowercase=False), n.BertNormalizer(strip_accents=False),
             n.BertNormalizer(clean_text=False, handle_chinese_chars=False),
             n.BertNormalizer(lowercase=False, strip_accents=True),
             n.Precompiled(make_charsmap(RULES)), n.Sequence([]),
             n.Sequence([n.NFD(), n.Sequence([n.StripAccents(), n.Lowercase()]), n.Strip(),
                         n.Replace(" ", "\u2581"), n.Prepend("\u2581")])]
    rng = random.Random(5)
    entries = [{"normalizer": describe(x), "points": hash_points(x),
                "cases": make_pairs(rng, x.normalize_str)} for x in cases]
    for name, flags in [("identity", 0), ("identity", 1), ("identity", 7)] + \
            [(None, flags) for flags in (0, 1, 2, 3, 4, 7, 11)]:
        model, symbols = make_model(name, flags)
        entries.append({"sentencepiece": base64.b64encode(charsmap_of(model)).decode(),
                        "symbols": symbols, "flags": flags & 11 | 4, "cases": make_pairs(
                            rng, sentencepiece.SentencePieceProcessor(model_proto=model).normalize)})
    print("[" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "]")


if __name__ == "__main__":
    main()
