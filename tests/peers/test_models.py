#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of tokenizer.json against the package `tokenizers`, SentencePiece models against
`sentencepiece`: trained here on the tree's own text, then compared on random texts.

usage: test_models.py TREE LIBRARY [TOKENIZER.JSON...]: the path of model-probe.c's shared library.
Files that are named are compared too. Prints TAP.
"""
import ctypes
import glob
import io
import json
import random
import re
import sys

import numpy
import sentencepiece
from tokenizers import Tokenizer, models, trainers

OWN = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
OTHERS = [byte for byte in range(256) if byte not in OWN]
LETTERS = {byte: chr(byte) for byte in OWN} | {b: chr(0x100 + i) for i, b in enumerate(OTHERS)}
BYTES = {letter: byte for byte, letter in LETTERS.items()}
ALPHABET = 'aabeot  \n.<>/0éñ中国のк̄ا😀▁'


class Probe:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.model_probe_open.restype = ctypes.c_void_p
        self.library.model_probe_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int,
                                                  ctypes.c_char_p, ctypes.c_size_t]
        self.library.model_probe_encode.argtypes = [ctypes.c_void_p] * 3 + [
            ctypes.c_size_t, ctypes.c_int] + [ctypes.c_void_p] * 2
        self.library.model_probe_encode.restype = ctypes.c_double
        self.library.model_probe_close.argtypes = [ctypes.c_void_p]

    def encode(self, data, byte_level, pieces, cut):
        """The ids of each piece, and of all of them."""
        message = ctypes.create_string_buffer(1000)
        model = self.library.model_probe_open(data, len(data), byte_level, message, len(message))
        if not model:
            raise ValueError(message.value.decode())
        text = numpy.frombuffer(b''.join(pieces) + b'\0', numpy.uint8)
        starts = numpy.zeros(len(pieces) + 1, numpy.uint64)
        numpy.cumsum([len(piece) for piece in pieces], out=starts[1:])
        ids = numpy.zeros(len(text), numpy.uint32)
        counts = numpy.zeros(len(pieces), numpy.uint64)
        self.library.model_probe_encode(model, text.ctypes.data, starts.ctypes.data, len(pieces),
                                        cut, ids.ctypes.data, counts.ctypes.data)
        self.library.model_probe_close(model)
        return [part.tolist() for part in
                numpy.split(ids[:int(counts.sum())], numpy.cumsum(counts)[:-1].astype(int))]


def make_texts(rand, entries, n):
    texts = []
    for i in range(n):
        if i % 3 == 0:
            text = ''.join(rand.choice(ALPHABET) for _ in range(rand.randrange(1, 40)))
        elif i % 3 == 1:
            text = ''.join(chr(rand.choice([rand.randrange(32, 127), rand.randrange(0xa0, 0x600),
                                            rand.randrange(0x4e00, 0x5000)]))
                           for _ in range(rand.randrange(1, 20)))
        else:
            text = ''.join(rand.choice(entries) for _ in range(rand.randrange(1, 7)))
        texts.append(text)
    return [text for text in texts if text]


def compare(name, texts, wanted, got):
    for text, a, b in zip(texts, wanted, got, strict=True):
        if a != b:
            raise AssertionError(f'{name}: {text[:200]!r} has {b[:40]}, should have {a[:40]}')


def letters_of(text):
    return ''.join(LETTERS[byte] for byte in text.encode())


def text_of(entry, byte_level):
    if not byte_level:
        return entry
    return bytes(BYTES.get(c, 63) for c in entry).decode('utf-8', 'ignore')


def check_json(probe, rand, name, data, n):
    tree = json.loads(data)
    byte_level = 'ByteLevel' in json.dumps([tree.get('pre_tokenizer'), tree.get('normalizer')])
    for key in ('normalizer', 'pre_tokenizer', 'post_processor', 'decoder', 'truncation',
                'padding'):
        tree[key] = None
    tree['added_tokens'] = []
    vocab = tree['model']['vocab']
    entries = [text_of(e if isinstance(e, str) else e[0], byte_level) for e in vocab]
    texts = make_texts(rand, entries, n) + [e for e in entries if e]
    inputs = [letters_of(text) if byte_level else text for text in texts]
    theirs = Tokenizer.from_str(json.dumps(tree))
    wanted = [encoding.ids for encoding in theirs.encode_batch(inputs, add_special_tokens=False)]
    for cut in (0, 1):
        compare(name, texts, wanted,
                probe.encode(data, byte_level, [text.encode() for text in texts], cut))


def train_json(lines):
    """Name, model, the trainer's type and options, what it is trained on, whether in letters."""
    words = [word for line in lines for word in re.findall(r' ?\w+|[^\w]+', line)]
    pieces = [word.replace(' ', '▁') for word in words]
    in_letters = [letters_of(word) for word in words]
    byte_tokens = [f'<0x{i:02X}>' for i in range(256)]
    unknown = {'special_tokens': ['<unk>']}
    yield ('WordPiece', models.WordPiece(unk_token='<unk>'), trainers.WordPieceTrainer, unknown,
           words, False)
    yield ('WordLevel', models.WordLevel(unk_token='<unk>'), trainers.WordLevelTrainer, unknown,
           words, False)
    yield ('Unigram', models.Unigram(), trainers.UnigramTrainer,
           {**unknown, 'unk_token': '<unk>'}, pieces, False)
    yield ('BPE of bytes', models.BPE(), trainers.BpeTrainer,
           {'initial_alphabet': list(LETTERS.values())}, in_letters, True)
    yield ('BPE with suffix', models.BPE(unk_token='<unk>', end_of_word_suffix='</w>'),
           trainers.BpeTrainer, {**unknown, 'end_of_word_suffix': '</w>'}, words, False)
    yield ('BPE of characters', models.BPE(unk_token='<unk>', byte_fallback=True, fuse_unk=True),
           trainers.BpeTrainer, {'special_tokens': ['<unk>', *byte_tokens]}, pieces, False)


def check_trained(probe, rand, name, model, trainer, options, words, byte_level):
    tokenizer = Tokenizer(model)
    tokenizer.train_from_iterator(words, trainer(vocab_size=2500, show_progress=False, **options))
    tree = json.loads(tokenizer.to_str())
    if byte_level:
        tree['pre_tokenizer'] = {'type': 'ByteLevel'}
    check_json(probe, rand, name, json.dumps(tree).encode(), 20000)


def check_sentencepiece(probe, rand, lines, name, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=2, character_coverage=0.99,
        hard_vocab_limit=False, **options)
    processor = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    entries = [processor.id_to_piece(i).replace('▁', ' ')
               for i in range(processor.get_piece_size())]
    texts = make_texts(rand, entries, 20000) + [' '.join(lines)]
    normalized = [processor.normalize(text) for text in texts]
    texts, normalized = zip(*[pair for pair in zip(texts, normalized) if pair[1]])
    for cut in (0, 1):
        compare(name, normalized, processor.encode(list(texts)),
                probe.encode(out.getvalue(), 0, [text.encode() for text in normalized], cut))


def main():
    tree, library, *files = sys.argv[1:]
    probe = Probe(library)
    rand = random.Random(11)
    lines = []
    for path in sorted(glob.glob(tree + '/docs/**/*.md', recursive=True)) + [tree + '/README.md']:
        with open(path, encoding='utf-8') as file:
            lines += [line.strip() for line in file if 5 < len(line) < 2000]

    tests = [(name, lambda a=(name, *rest): check_trained(probe, rand, *a))
             for name, *rest in train_json(lines)]
    for kind in ('bpe', 'unigram'):
        for options in ({}, {'byte_fallback': True},
                        {'user_defined_symbols': ['the', '▁▁', '<a>'],
                         'remove_extra_whitespaces': False},
                        {'split_by_whitespace': False, 'normalization_rule_name': 'identity'}):
            name = f'SentencePiece {kind} {options}'
            tests.append((name, lambda n=name, k=kind, o=options: check_sentencepiece(
                probe, rand, lines, n, model_type=k, vocab_size=1500, **o)))
    for path in files:
        with open(path, 'rb') as file:
            tests.append((path, lambda p=path, d=file.read(): check_json(probe, rand, p, d,
                                                                         200000)))

    print(f'1..{len(tests)}')
    failed = False
    for i, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f'ok {i} {name}', flush=True)
        except Exception as error:  # whatever it is, the others are to run
            failed = True
            print(f'not ok {i} {name}\n# {error!r}', flush=True)
    sys.exit(failed)


main()
