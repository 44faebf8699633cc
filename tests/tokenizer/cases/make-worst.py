#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes worst.json: texts that are hard to encode, small models, and the sha256 of the ids (32 bits
each, little-endian) that the packages `tiktoken` and `tokenizers` give for the first 64 KiB of each
text. Needs them (0.14.0 and 0.23.3 were used). usage: make-worst.py FOLDER-OF-RANK-FILES > worst.json

A text is a row of parts; which part is next says a generator of numbers that the test has, too.
"""
import base64
import hashlib
import json
import pathlib
import random
import struct
import sys

import tiktoken
from tokenizers import Tokenizer

SIZE = 1 << 16
MASK = (1 << 64) - 1
ASCII = [chr(c) for c in range(33, 127)]
TEXTS = {
    'a': ['a'],
    'space': [' '],
    'newline': ['\n'],
    'cjk': ['中'],
    'mark': ['\u0301'],
    'digit': ['1'],
    'letters': [chr(c) for c in range(97, 123)],
    'Letters': [chr(c) for c in [*range(65, 91), *range(97, 123)]],
    'digits': list('0123456789'),
    'punctuation': [c for c in ASCII if not c.isalnum()],
    'ab': ['a', 'b'],
    'Aa': ['aA'],
    'blank': [' ', '\n', '\t'],
    'crlf': ['\r\n'],
    'dashes': list('-=*'),
    'han': [chr(0x4e00 + 37 * i) for i in range(500)],
    'marks': ['e', '\u0301', '\u0323'],
    'runs': [' ' * 7, 'a' * 37, ' ' * 61, 'a' * 11],
}
PATTERNS = {
    'gpt2': r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    'cl100k_base': r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"""
                   r"""\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
}
UPPER = r'\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}'
LOWER = r'\p{Ll}\p{Lm}\p{Lo}\p{M}'
ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERNS['o200k_base'] = '|'.join([
    rf'[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{ENDING}', rf'[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{ENDING}',
    r'\p{N}{1,3}', r' ?[^\s\p{L}\p{N}]+[\r\n/]*', r'\s*[\r\n]+', r'\s+(?!\S)', r'\s+'])
OWN = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
LETTERS = {byte: chr(byte) for byte in OWN}
LETTERS |= {byte: chr(0x100 + i) for i, byte in enumerate(b for b in range(256) if b not in OWN)}
BPE = {'type': 'BPE', 'dropout': None, 'unk_token': None, 'continuing_subword_prefix': None,
       'end_of_word_suffix': None, 'fuse_unk': False, 'byte_fallback': False,
       'ignore_merges': False}


def text(parts):
    out, size, state = [], 0, 1
    while size < SIZE:
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        out.append(parts[(state >> 33) % len(parts)])
        size += len(out[-1].encode())
    while size > SIZE:
        size -= len(out.pop().encode())
    return ''.join(out)


def grow(rand, alphabet, runs, n):
    """Merges of entries that there are already: of runs of one character, and of anything."""
    merges = [[run * 2 ** i] * 2 for run in runs for i in range(4)]
    # The longest entry of a run is not the one that a longer run is made of.
    merges += [[run * 16, run * i] for run in runs[:2] for i in range(1, 16)]
    merges += [[run * 2 ** k, run * i] for run in runs[:2] for k in (1, 2, 3) for i in range(1, 2 ** k)]
    entries = [*alphabet, *(left + right for left, right in merges)]
    while len(merges) < n:
        pair = [rand.choice(entries), rand.choice(entries)]
        made = ''.join(pair)
        if len(made) > 40 or pair in merges:
            continue
        merges.append(pair)
        if made not in entries:
            entries.append(made)
    return merges


def entries_of(first, merges):
    return {entry: i for i, entry in
            enumerate(dict.fromkeys([*first, *(left + right for left, right in merges)]))}


def tokenizer(model, normalizer=None, pre_tokenizer=None):
    return json.dumps({'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': [],
                       'normalizer': normalizer, 'pre_tokenizer': pre_tokenizer,
                       'post_processor': None, 'decoder': None, 'model': BPE | model},
                      ensure_ascii=False, separators=(',', ':'))


def models():
    rand = random.Random(3)
    cut = {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': True, 'use_regex': True}
    whole = cut | {'use_regex': False}
    marked = {'type': 'Replace', 'pattern': {'String': ' '}, 'content': '▁'}
    alphabet = list(LETTERS.values())
    near = [*'abcA-=1', *(LETTERS[b] for b in b' \n\t\r')]
    runs = ['a', LETTERS[32], LETTERS[10], '1']

    merges = grow(rand, near, runs, 300)
    yield 'bytes', tokenizer({'vocab': entries_of(alphabet, merges), 'merges': merges}, None, cut)
    rand.shuffle(merges)
    vocab = entries_of(alphabet, merges)
    yield 'bytes-shuffled', tokenizer({'vocab': vocab, 'merges': merges}, None, whole)

    ends = [letter + '</w>' for letter in alphabet]
    merges += [[left, right + '</w>'] for left, right in merges[:50] if right + '</w>' in ends]
    yield 'bytes-suffix', tokenizer({'vocab': entries_of(alphabet + ends, merges), 'merges': merges,
                                     'end_of_word_suffix': '</w>'}, None, whole)

    near = list('abcdefgA-=1▁\n\t\r\u0301\u0323中')
    merges = grow(rand, near, ['a', '▁', '\n', '1', '中', '\u0301'], 300)
    rand.shuffle(merges)
    fallback = [f'<0x{i:02X}>' for i in range(256)]
    options = {'vocab': entries_of(['<unk>', *fallback, *near], merges), 'merges': merges,
               'unk_token': '<unk>', 'fuse_unk': True}
    yield 'chars', tokenizer(options | {'byte_fallback': True}, marked)
    yield 'chars-unknown', tokenizer(options, marked)
    yield 'chars-vanishing', tokenizer(options | {'unk_token': None, 'fuse_unk': False}, marked)


def load_ranks(path):
    lines = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def encoders(folder):
    for name, file in (('gpt2', 'r50k_base'), ('cl100k_base', 'cl100k_base'),
                       ('o200k_base', 'o200k_base')):
        encoding = tiktoken.Encoding(name, pat_str=PATTERNS[name], special_tokens={},
                                     mergeable_ranks=load_ranks(folder / (file + '.tiktoken')))
        yield name, None, encoding.encode_ordinary
    for name, content in models():
        model = Tokenizer.from_str(content)
        yield name, content, lambda t, model=model: model.encode(t, add_special_tokens=False).ids


def main():
    out = []
    for name, content, encode in encoders(pathlib.Path(sys.argv[1])):
        hashes = []
        for key, parts in TEXTS.items():
            ids = encode(text(parts))
            hashes.append(hashlib.sha256(struct.pack(f'<{len(ids)}I', *ids)).hexdigest()[:32])
            print(name, key, len(ids), file=sys.stderr)
        out.append({'name': name, 'tokenizer': content, 'ids': hashes})
    compact = {'ensure_ascii': False, 'separators': (',', ':')}
    lines = ',\n'.join(json.dumps(model, **compact) for model in out)
    texts = [{'name': name, 'parts': parts} for name, parts in TEXTS.items()]
    print('{"texts":', json.dumps(texts, **compact), ',\n"models":[\n', lines, ']}', sep='')


main()
