# SPDX-License-Identifier: MIT
"""Splitters cut as the pre-tokenizers of Hugging Face's tokenizers do: all that cases/make-splitters.py has, on
random strings, and random regular expressions of Oniguruma's syntax. DLPIPE_TEST_SCALE multiplies how many.

    test_splitters.py libsplitter-probe.so MAKE-SPLITTERS.PY [SEED]
"""
import ctypes
import importlib.util
import json
import os
import random
import sys

import tokenizers

SCALE = float(os.environ.get("DLPIPE_TEST_SCALE", "1"))
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
spec = importlib.util.spec_from_file_location("make_splitters", sys.argv[2])
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)


class Piece(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint32), ("len", ctypes.c_uint32)]


class Pieces(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("text_len", ctypes.c_size_t), ("items", ctypes.POINTER(Piece)),
                ("n", ctypes.c_size_t)]


probe = ctypes.CDLL(sys.argv[1])
probe.probe_new.restype = ctypes.c_void_p
probe.probe_run.restype = ctypes.POINTER(Pieces)
probe.probe_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
probe.probe_is_byte_level.argtypes = probe.probe_free.argtypes = [ctypes.c_void_p]

OTHERS = [b for b in range(256) if not (0x21 <= b <= 0x7e or 0xa1 <= b <= 0xac or 0xae <= b <= 0xff)]
LETTERS = {b: chr(256 + OTHERS.index(b)) if b in OTHERS else chr(b) for b in range(256)}
EMPTY = json.loads(tokenizers.Tokenizer(tokenizers.models.BPE()).to_str())


class Ours:
    def __init__(self, node):
        message = ctypes.create_string_buffer(4000)
        self.pointer = probe.probe_new(json.dumps(node).encode(), message, ctypes.c_size_t(4000))
        self.message = message.value.decode()
        self.byte_level = self.pointer and probe.probe_is_byte_level(self.pointer)

    def __call__(self, text):
        data = text.encode()
        found = probe.probe_run(self.pointer, data, len(data))
        if not found:
            return None
        pieces = [ctypes.string_at(found[0].text + p.start, p.len) for p in found[0].items[:found[0].n]]
        return ["".join(LETTERS[b] for b in p) if self.byte_level else p.decode() for p in pieces]

    def free(self):
        if self.pointer:
            probe.probe_free(self.pointer)


def theirs(node):
    whole = tokenizers.Tokenizer.from_str(json.dumps({**EMPTY, "pre_tokenizer": node}))
    return whole.pre_tokenizer


def differs(node, texts):
    """The first text that is cut otherwise, or None; None too where either gives up, as it says."""
    ours, reference = Ours(node), theirs(node)
    if not ours.pointer:
        return None
    try:
        for text in texts:
            got = ours(text)
            try:
                want = [piece for piece, _ in reference.pre_tokenize_str(text)]
            except BaseException:  # the engine's limit is a panic
                continue
            if got is not None and got != want:
                return f"{json.dumps(node)}: {ascii(text)}: {ascii(want)} wanted, got {ascii(got)}"
    finally:
        ours.free()
    return None


LITERALS = list("abskt1 '_-l中é") + ["\\n", "\\.", "\\x{41}", "\\u0042"]
SETS = ["\\" + c for c in "sSdDwWhH"] + ["\\p{%s}" % n for n in ("L", "Lu", "^L", "Han", "M", "P", "S", "Punct", "Word",
                                                             "upper", "C", "Z", "LC")] + ["\\P{N}", "\\P{Word}"]
BRACKETS = ["[:%s:]" % n for n in ("punct", "^punct", "upper", "word", "space", "digit", "xdigit", "print", "graph")]
WIDTHLESS = ["^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z"]
TEXT = list("aabbsSkK1 '_-.tlABC9xz中éÉ\n\r!$+²ⓐßſ") + ["\u212a", "\u0301", "\u00a0", "\u2028"]


def some_class(rand, depth=0):
    out = "[" + rand.choice(["", "", "^"])
    for _ in range(rand.randint(1, 3)):
        kind = rand.random()
        if kind < 0.4:
            out += rand.choice(["a", "b", "s", "k", "1", " ", "中", "\\n", ".", "\\-", "S", "\\]", "\\x{41}"])
        elif kind < 0.55:
            out += rand.choice(["a-c", "0-9", "A-Z", "一-龥", "\\x{20}-\\x{40}", "!-/", "r-t"])
        elif kind < 0.8:
            out += rand.choice(SETS + BRACKETS)
        elif depth < 2:
            out += rand.choice([some_class(rand, depth + 1), "&&"])
        else:
            out += "x"
    return out + "]"


def some_repeat(rand):
    if rand.random() < 0.5:
        return ""
    out = rand.choice(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}"]) + rand.choice(["", "", "", "?", "+"])
    return out + rand.choice([""] * 12 + ["*"])


def some_regex(rand, depth=0):
    out = ""
    for _ in range(rand.randint(1, 4)):
        kind = rand.random()
        if kind < 0.35 or depth > 3:
            out += rand.choice(LITERALS) + some_repeat(rand)
        elif kind < 0.75:
            out += rand.choice([rand.choice(SETS), some_class(rand), ".", "\\R", "\\O"]) + some_repeat(rand)
        elif kind < 0.82:
            out += rand.choice(WIDTHLESS)
        elif kind < 0.93:
            out += rand.choice(["(", "(?:", "(?>", "(?i:", "(?m:", "(?<n>"]) + some_regex(rand, depth + 1) + ")"
            out += some_repeat(rand)
        elif kind < 0.95:
            out += rand.choice(["(?i)", "(?m)"])
        else:
            out += rand.choice(["(?=", "(?!", "(?<=", "(?<!"]) + rand.choice(LITERALS + SETS) + ")"
    return out + ("|" + some_regex(rand, depth + 1) if rand.random() < 0.3 and depth < 3 else "")


def test_subjects(rand):
    for node, _ in made.SUBJECTS:
        if node is None:
            continue
        found = differs(node, [made.random_text(rand) for _ in range(int(500 * SCALE))])
        if found:
            return found
    return None


def test_regexes(rand):
    accepted = 0
    for _ in range(int(1500 * SCALE)):
        node = made.split(some_regex(rand), rand.choice(made.CUTS))
        try:
            theirs(node)
        except Exception:
            continue
        accepted += 1
        found = differs(node, ["".join(rand.choices(TEXT, k=rand.randint(1, 12))) for _ in range(20)])
        if found:
            return found
    return None if accepted > 500 * SCALE else f"only {accepted} regular expressions that the reference takes"


def main():
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a panic prints
    rand = random.Random(SEED)
    print("1..2")
    for i, test in enumerate((test_subjects, test_regexes), 1):
        found = test(rand)
        if found:
            print("# " + found)
        print(f"{'not ok' if found else 'ok'} {i} {test.__name__[5:]}")


main()
