#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes splitters.jsonl: what the pre-tokenizers of Hugging Face's `tokenizers` (PyPI) make of texts.

    pip install tokenizers; python3 make-splitters.py > splitters.jsonl

Each line: {"pre_tokenizer": as in a tokenizer.json, "byte_level": whether its pieces are letters of bytes,
"kind": the number of the scanner or -1, "cases": [[text, [piece, ...]], ...]}. The first line says the version.
"""
import json
import random
import sys

import tokenizers

CASED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UP, LOW = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
UP_HAN, LOW_HAN = UP[:-1] + r"&&[^\p{Han}]]", LOW[:-1] + r"&&[^\p{Han}]]"
PRE = r"[^\r\n\p{L}\p{N}]?"
END = r"\s*[\r\n]+|\s+(?!\S)|\s+"
PUNCT = r" ?[^\s\p{L}\p{N}]+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = rf"{CASED}|{PRE}\p{{L}}+|\p{{N}}{{1,3}}|{PUNCT}[\r\n]*|{END}"
CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
          r"\s++$|\s*[\r\n]|\s+(?!\S)|\s")
O200K = rf"{PRE}{UP}*{LOW}+{CASED}?|{PRE}{UP}+{LOW}*{CASED}?|\p{{N}}{{1,3}}|{PUNCT}[\r\n/]*|{END}"
QWEN2 = rf"{CASED}|{PRE}\p{{L}}+|\p{{N}}|{PUNCT}[\r\n]*|{END}"
QWEN35 = rf"{CASED}|{PRE}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{END}"
TEKKEN = rf"{PRE}{UP}*{LOW}+|{PRE}{UP}+{LOW}*|\p{{N}}|{PUNCT}[\r\n/]*|{END}"
KIMI = (rf"[\p{{Han}}]+|{PRE}{UP_HAN}*{LOW_HAN}+{CASED}?|{PRE}{UP_HAN}+{LOW_HAN}*{CASED}?|"
        rf"\p{{N}}{{1,3}}|{PUNCT}[\r\n]*|{END}")
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
            " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
CUTS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def split(pattern, cut="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": cut, "invert": invert}


def byte_level(prefix=False, use_regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def digits(individual):
    return {"type": "Digits", "individual_digits": individual}


def metaspace(**more):
    return {"type": "Metaspace", "replacement": "▁", **more}


PLAIN = [{"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "Punctuation",
                                     "UnicodeScripts", "FixedLength")]
# With the number of the scanner in DlpPatternKind.
KNOWN = [(GPT2, 0), (LLAMA3, 2), (O200K, 3), (QWEN2, 4), (QWEN35, 5), (TEKKEN, 6), (KIMI, 7), (CL100K, -1)]
SUBJECTS = (
    [(None, -1)] + [(p, -1) for p in PLAIN] +
    [(byte_level(), -1), (byte_level(True, True), -1), (byte_level(False, True), 0)] +
    [(sequence(split(p), byte_level()), kind) for p, kind in KNOWN] +
    [(sequence(split(O200K, "Removed", True), byte_level()), 3), (split(GPT2), 0), (split(GPT2, "Removed"), -1),
     (sequence(*map(split, DEEPSEEK), byte_level()), 8), (sequence(*map(split, DEEPSEEK)), 8),
     (sequence(digits(True), byte_level(False, True)), 9), (sequence(digits(False), byte_level(False, True)), -1),
     (sequence(digits(True), byte_level(True, True)), -1), (digits(True), -1), (digits(False), -1),
     (sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(False, True), digits(False),
               split("[0-9][0-9][0-9]")), -1),
     (sequence(split(BLOOM), byte_level()), -1), (split(r"(?=(\d{3})+(?!\d))"), -1),
     (metaspace(prepend_scheme="always", split=True), -1), (metaspace(prepend_scheme="first", split=True), -1),
     (metaspace(prepend_scheme="never", split=True), -1), (metaspace(prepend_scheme="first", split=False), -1),
     (metaspace(), -1), (metaspace(add_prefix_space=True, str_rep="▁"), -1),
     (sequence({"type": "WhitespaceSplit"}, metaspace(prepend_scheme="first")), -1),
     (sequence({"type": "WhitespaceSplit"}, metaspace()), -1),
     ({"type": "FixedLength", "length": 2}, -1), ({"type": "CharDelimiterSplit", "delimiter": "中"}, -1),
     (sequence(byte_level(True, True), byte_level(True, True)), -1),
     (sequence(byte_level(), {"type": "FixedLength", "length": 1}), -1),
     (sequence(byte_level(), split("Ġ", "MergedWithNext", False, "String")), -1),
     (sequence(sequence(byte_level(False, True)), sequence(), {"type": "Whitespace"}), -1),
     (sequence({"type": "UnicodeScripts"}, {"type": "Whitespace"}, byte_level(True)), -1)] +
    [({"type": "Punctuation", "behavior": cut}, -1) for cut in CUTS] +
    [(split(pattern, cut, invert, kind), -1) for cut in CUTS for invert in (False, True)
     for kind, pattern in (("Regex", " "), ("Regex", "a*"), ("String", "a"), ("String", ""))] +
    [(split(pattern, cut), -1) for cut in ("Removed", "Contiguous") for pattern in (
        r"\w+", r"[\w]+", r"\b\w|²\B", r"[[:punct:]]+", r"\p{Punct}+|\h", r"a{1,2}+|\R", r"^.|.$", r"(?i:s|k)+",
        r"(?i)[^s\n]+(?m).", r"[[a-e]&&[^c]1]+", r"\p{^Word}|\P{C}{2}?", r"(?<=a|bc)\S", r"1{2}?\O|\Z")])

ATOMS = [" ", "\n", "a", "B", "'", "s", "l", "1", "/", ".", "\r", "\t", "中", "\u0301", "é", "É", "०", "\u00a0", "ſ",
         "ʰ", "ǅ", "—", "\u3000", "😀", "𐐀", "𝟎", "\x85", "\u180e", "\u200b", "\x01", "t", "e", "v", "r", "S", "L", "m",
         "D", "\U000e0100", "\u2028", "\u1c89", "\U00010d4a", "\u0378", "ア", "一", "〇", "⺀", "々", "\u3099", "・", "ー",
         "あ", "ß", "\u212a", "k", "_", "$", "²", "ⓐ", "\u203f", "\u200d", "Ⅷ", "ا", "क", "ि", "한", "{", "-", "9", "  ",
         "\ufeff", "\U000f0000", "▁", "Ġ", "\U00011de0", "b", "c", "\u166d", "\u2e43"]
FIXED = ["", " ", "   ", "a", "The quick  brown fox's 12345 jumps\n\n  over\tIT'LL ", "a b  c", " 中a ", "'Sé'ſ 1234",
         "ABc中def!!\n/x", "x.y..z\r\n"]


def random_text(rand):
    parts = []
    for _ in range(rand.randint(1, 8)):
        if rand.random() < 0.7:
            parts.append(rand.choice(ATOMS))
        elif rand.random() < 0.6:
            parts.append(rand.choice(ATOMS) * rand.randint(2, 4))
        else:
            parts.append("".join(rand.choice("abcXY 12") for _ in range(rand.randint(2, 6))))
    return "".join(parts)


def is_byte_level(node):
    if node is None:
        return False
    return node["type"] == "ByteLevel" or any(map(is_byte_level, node.get("pretokenizers", [])))


def main():
    rand = random.Random(20261130)
    empty = json.loads(tokenizers.Tokenizer(tokenizers.models.BPE()).to_str())
    print(json.dumps({"made_with": "tokenizers " + tokenizers.__version__}))
    for node, kind in SUBJECTS:
        made = tokenizers.Tokenizer.from_str(json.dumps({**empty, "pre_tokenizer": node})).pre_tokenizer
        cases = []
        for text in FIXED + [random_text(rand) for _ in range(14)]:
            pieces = [piece for piece, _ in made.pre_tokenize_str(text)] if made else [text] if text else []
            cases.append([text, pieces])
        line = {"pre_tokenizer": node, "byte_level": is_byte_level(node), "kind": kind, "cases": cases}
        json.dump(line, sys.stdout, ensure_ascii=False, separators=(",", ":"))
        print()


if __name__ == "__main__":
    main()
