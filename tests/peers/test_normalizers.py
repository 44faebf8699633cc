# SPDX-License-Identifier: MIT
"""Normalizers give the bytes that those of Hugging Face's tokenizers and of sentencepiece give: on
every code point, alone and between letters, and on random strings of what is tricky.
DLPIPE_TEST_SCALE multiplies how many strings.

    test_normalizers.py libnormalizer-probe.so [SEED [CASE...]]
"""
import ctypes
import json
import os
import random
import sys

import sentencepiece
from tokenizers import Regex, normalizers

from normalizer_texts import (POINTS, RULES, charsmap_of, make_charsmap, make_model, random_charsmap,
                              random_strings, train_model)

SCALE = float(os.environ.get("DLPIPE_TEST_SCALE", "1"))
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1

probe = ctypes.CDLL(sys.argv[1])
probe.probe_new.restype = probe.probe_new_sentencepiece.restype = ctypes.c_void_p
probe.probe_run.restype = ctypes.c_void_p
probe.probe_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]
probe.probe_free.argtypes = [ctypes.c_void_p]


class Ours:
    def __init__(self, pointer):
        self.pointer = pointer

    @classmethod
    def json(cls, description):
        message = ctypes.c_char_p()
        pointer = probe.probe_new(json.dumps(description).encode(), ctypes.byref(message))
        assert pointer, message.value
        return cls(pointer)

    @classmethod
    def sentencepiece(cls, charsmap, symbols, flags):
        pointer = probe.probe_new_sentencepiece(charsmap, ctypes.c_size_t(len(charsmap)),
                                                "\n".join(symbols).encode(), flags)
        assert pointer
        return cls(pointer)

    def __call__(self, text):
        size = ctypes.c_size_t(len(text))
        result = probe.probe_run(self.pointer, text, ctypes.byref(size))
        assert result is not None or size.value == 0
        return ctypes.string_at(result, size.value) if size.value else b""


def compare(ours, theirs, strings):
    n = 0
    for text in strings:
        want = theirs(text)
        got = ours(text.encode())
        if got != want.encode():
            print(f"# {ascii(text)}: {ascii(want)} wanted, got "
                  f"{ascii(got.decode(errors='backslashreplace'))}")
            return False
        n += 1
    print(f"# {n} strings")
    return True


def all_points(name):
    # sentencepiece has no tables of its own.
    some = POINTS[::7] if name.startswith("sentencepiece") else POINTS
    for c in some:
        yield chr(c)
    for c in some:
        yield f"e{chr(c)}\u0323\u0301b"


def describe(normalizer):
    return json.loads(normalizer.__getstate__())


def normalizer_cases():
    n = normalizers
    nmt = charsmap_of(train_model(normalization_rule_name="nmt_nfkc"))
    cf = charsmap_of(train_model(normalization_rule_name="nmt_nfkc_cf"))
    return [
        ("NFC", n.NFC()), ("NFD", n.NFD()), ("NFKC", n.NFKC()), ("NFKD", n.NFKD()),
        ("Lowercase", n.Lowercase()), ("StripAccents", n.StripAccents()), ("Nmt", n.Nmt()),
        ("Strip", n.Strip()), ("Strip left", n.Strip(left=True, right=False)),
        ("Strip right", n.Strip(left=False, right=True)), ("ByteLevel", n.ByteLevel()),
        ("Prepend", n.Prepend("\u2581")),
        ("Replace a byte", n.Replace(" ", "\u2581")), ("Replace by nothing", n.Replace("a", "")),
        ("Replace a letter", n.Replace("\u0301", "xyz0123456789")),
        ("Replace a string", n.Replace("aa", "a")), ("Replace an empty string", n.Replace("", "-")),
        ("Replace a regex", n.Replace(Regex(" {2,}"), " ")),
        ("Replace a regex of spaces", n.Replace(Regex(r"\s+"), "_")),
        ("Replace an empty regex", n.Replace(Regex("a*"), "-")),
        ("Replace the ends of lines", n.Replace(Regex("^|$"), "-")),
        ("BERT uncased", n.BertNormalizer()),
        ("BERT cased", n.BertNormalizer(lowercase=False)),
        ("BERT with accents", n.BertNormalizer(strip_accents=False)),
        ("BERT without letters", n.BertNormalizer(clean_text=False, handle_chinese_chars=False)),
        ("Precompiled nmt_nfkc", n.Precompiled(nmt)),
        ("Precompiled nmt_nfkc_cf", n.Precompiled(cf)),
        ("Precompiled rules", n.Precompiled(make_charsmap(RULES))),
    ] + [
        (f"Precompiled {seed}", n.Precompiled(random_charsmap(random.Random(seed))))
        for seed in range(10)
    ] + [
        ("a Sequence", n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase(), n.Strip(),
                                   n.Replace(" ", "\u2581"), n.Prepend("\u2581")])),
    ]


def sentencepiece_cases():
    for name in ("identity", "nmt_nfkc", "nmt_nfkc_cf", None):
        for flags in range(16):
            model, symbols = make_model(name, flags)
            yield f"sentencepiece {name} {flags}", \
                Ours.sentencepiece(charsmap_of(model), symbols, flags & 11 | 4), \
                sentencepiece.SentencePieceProcessor(model_proto=model).normalize
    nmt = charsmap_of(train_model(normalization_rule_name="nmt_nfkc"))
    for flags in range(4):
        theirs = sentencepiece.SentencePieceNormalizer(
            rule_name="nmt_nfkc", add_dummy_prefix=bool(flags & 1), escape_whitespaces=False,
            remove_extra_whitespaces=bool(flags & 2))
        yield f"sentencepiece with spaces {flags}", Ours.sentencepiece(nmt, [], flags), \
            theirs.normalize


def main():
    only = sys.argv[3:]
    cases = [(name, Ours.json(describe(theirs)), theirs.normalize_str)
             for name, theirs in normalizer_cases()]
    cases = [case for case in cases + list(sentencepiece_cases()) if not only or case[0] in only]
    print(f"1..{2 * len(cases)}")
    failed = False
    count = int(20000 * SCALE)
    rng = random.Random(SEED)
    for i, (name, ours, theirs) in enumerate(cases):
        for j, (what, strings) in enumerate((("code points", all_points(name)),
                                             ("random strings", random_strings(rng, count)))):
            good = compare(ours, theirs, strings)
            failed |= not good
            print(f"{'ok' if good else 'not ok'} {2 * i + j + 1} - {name}: {what}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
