# SPDX-License-Identifier: MIT
"""Texts that are tricky for normalizers, and charsmaps of SentencePiece."""
import io
import struct
import tempfile

import sentencepiece

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def points(first, last):
    return [chr(c) for c in range(first, last + 1)]


ALPHABETS = [
    # Latin with marks of many classes.
    list("aeiouAEIOUcsdSsIi \u0130\u00e9\u00c5\u1e9b\u0345\u0344\u0340\u0343\u212b\u2126") +
    points(0x300, 0x345),
    # Hangul: parts, syllables with and without a tail.
    points(0x1100, 0x1112)[::3] + points(0x1161, 0x1175)[::4] + points(0x11A7, 0x11C2)[::5] +
    points(0xAC00, 0xAC3A) + list("\ud7a3\u1160\ua960\ud7b0\u3131\uffa1 a\u0301"),
    # Chinese and Japanese with what is compatible.
    list("\u4e2d\u56fd\u3001\u3002\u304b\u304c\u3099\u309a\uff76\uff9e\uff9f\uff21\uff41\uff0c"
         "\u3000\uf900\uf9ff\ufa30\u2f00\u32ff\u33ff\u3392\u327c\u1f200 ") +
    [chr(c) for c in (0x2F800, 0x20000, 0x2B820, 0x2B920, 0x2FA1D, 0x1D15E, 0x1D165, 0x1F250)],
    # Emoji and what joins them.
    list("\u200d\ufe0f\u2764\u00a9\u00ae\u203c\u2640 a\u0301\u20e3#1\r\n") +
    [chr(c) for c in (0x1F600, 0x1F468, 0x1F469, 0x1F3FB, 0x1F1E6, 0x1F1E7, 0x1F1FA)],
    # Spaces, controls, formats.
    list("a b\t\n\r\v\f\x00\x01\x1f\x7f\x80\x85\x8f\x9f\xa0\xad\u1680\u2000\u2028\u2029\u202f"
         "\u205f\u3000\u200b\u200c\u200d\u200e\u2060\ufeff\ufffd\u2581\ue000\u08e2\u180e"),
    # Scripts whose signs reorder, compose or conjoin.
    list("\u0915\u094d\u0937\u0958\u093c\u0929\u0928\u09c7\u09be\u0995\u0bc6\u0bbe\u0b92\u0bd7"
         "\u0dd9\u0dca\u0dcf\u0ddc\u0d4d\u0d4e\u0d15\u0e33\u0e38\u0e48\u0eb3\u0f71\u0f72\u0f73\u0f74"
         "\u0f81\u0f80\u0627\u0653\u0654\u0655\u064b\u0651\u0600\u06dd\u070f\u05b7\u05bc\u05e9\u05c1"
         "\ufb2a\u1025\u102e\u1b05\u1b35\u200c\u0301 a") +
    [chr(c) for c in (0x11099, 0x110BA, 0x11131, 0x11127, 0x114B9, 0x114BA, 0x115B8, 0x115AF,
                      0x1133B, 0x113C2, 0x16121, 0x1611E, 0x11938, 0x11930)],
]


# For charsmaps of our own: letters, clusters and parts of them.
RULES = {"a": "A", "e\u0301": "E'", "\u00e9": "e\u0301", "\r\n": "\n", "\t": " ", "\u00a0": " ",
         "\u3000": " ", "\u3000\u3000": "  ", "\u00ad": "", "\u2126": "\u03a9", "\uac00": "ga",
         "\u0937": "S", "\u0937\u0301": "S'", "\u00a9": "(c)", "\u00a9\u0301": "(C)",
         "\u06dd": "o", "\u06dda": "oa", "\U0001f600": ":)", "bc": "bC", "\u0301": "'", " x": "_x"}


# Symbols with what charsmaps change, with spaces, and of which one begins another.
SYMBOLS = ["\u00e9\u0301", "  ", " x", "\uff21", "\uff21\uff41", "\u4e2d\u56fd", "a\u0301e", "\u200d"]
PAIRS = {"a": "A", "ab": " b ", "e\u0301": "\u00e9", "\u00e9": " ", "\t": "  ", "\u3000": " ",
         "\u00ad": "", "x": "y z", "i ": "I", "\u4e2d": "", "\U0001f600": ":)"}


def mixed(rng, length):
    """Of all alphabets, and now and then anything at all."""
    return "".join(chr(rng.choice(POINTS)) if rng.random() < 0.1
                   else rng.choice(rng.choice(ALPHABETS)) for _ in range(length))


def random_strings(rng, count):
    for _ in range(count):
        length = int(rng.expovariate(1 / 8)) + 1
        kind = rng.randrange(len(ALPHABETS) + 1)
        yield mixed(rng, length) if kind == len(ALPHABETS) else \
            "".join(rng.choice(ALPHABETS[kind]) for _ in range(length))
    for _ in range(count // 100):
        # Long runs of marks, and text that is stable for long.
        pool = rng.choice(ALPHABETS)
        yield "".join("x" * rng.randrange(80) + rng.choice(pool) * rng.randrange(40)
                      for _ in range(20))


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a message of protocol buffers that have a length."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            _, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            at += 4 if tag & 7 == 5 else 8


def train_model(**options):
    """A SentencePiece model of next to nothing."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g h"] * 4), model_writer=model, vocab_size=20,
        hard_vocab_limit=False, minloglevel=2, **options)
    return model.getvalue()


def make_model(rule_name, flags):
    """Flags are those of dlp-normalizer.h, but with 4 the model has SYMBOLS. No name: PAIRS."""
    symbols = SYMBOLS if flags & 4 else []
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        for pair in PAIRS.items():
            rules.write("\t".join(" ".join(f"{ord(c):X}" for c in x) for x in pair) + "\n")
        rules.flush()
        rule = {"normalization_rule_name": rule_name} if rule_name else \
            {"normalization_rule_tsv": rules.name}
        return train_model(**rule, add_dummy_prefix=bool(flags & 1),
                           remove_extra_whitespaces=bool(flags & 2), user_defined_symbols=symbols,
                           treat_whitespace_as_suffix=bool(flags & 8)), symbols


def charsmap_of(model):
    normalizer_spec = next(value for field, value in fields(model) if field == 3)
    return next((value for field, value in fields(normalizer_spec) if field == 2), b"")


def make_charsmap(rules):
    """A charsmap that puts a string in the place of each key, both as text."""
    strings, places, keys = bytearray(), {}, []
    for key, value in sorted((key.encode(), value) for key, value in rules.items()):
        if value not in places:
            places[value] = len(strings)
            strings += value.encode() + b"\0"
        keys.append((key, places[value]))
    units, used = [0] * 512, bytearray(512)
    used[0] = 1
    pending = [(0, 0, keys)]
    while pending:
        at, depth, some = pending.pop()
        leaf = [value for key, value in some if len(key) == depth]
        labels = sorted({key[depth] for key, _ in some if len(key) > depth})
        base = 1
        while any(used[base ^ label] for label in labels + [0] * len(leaf)):
            base += 1
            if base + 512 > len(units):
                units += [0] * 256
                used += bytes(256)
        units[at] |= (at ^ base) << 10 | bool(leaf) << 8
        for label in labels + [0] * len(leaf):
            used[base ^ label] = 1
        if leaf:
            units[base] = leaf[0] | 1 << 31
        for label in labels:
            units[base ^ label] = label
            pending.append((base ^ label, depth + 1, [(key, value) for key, value in some
                                                      if len(key) > depth and key[depth] == label]))
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + bytes(strings)


def random_charsmap(rng):
    rules = {}
    for _ in range(rng.randrange(1, 60)):
        alphabet = rng.choice(ALPHABETS)
        key = "".join(rng.choices(alphabet, k=rng.choice((1, 1, 2, 2, 3)))).replace("\0", "0")
        rules[key] = "".join(rng.choices(alphabet, k=rng.randrange(3))).replace("\0", "0")
    return make_charsmap(rules)
