#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes decoders.jsonl: for decoders of a tokenizer.json and for SentencePiece models, ids and the texts that
the packages `tokenizers` (0.23.3) and `sentencepiece` (0.2.3) make of them. Needs both.

usage: make-decoders.py > decoders.jsonl
       make-decoders.py LIBRARY [SEED...]   compares libdlpipe-tokenizer with them on random ones instead; TAP
"""
import base64
import contextlib
import ctypes
import itertools
import json
import os
import random
import struct
import sys
import tempfile

import sentencepiece
from tokenizers import Tokenizer

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'peers'))
from normalizer_texts import make_charsmap  # noqa: E402  pylint: disable=wrong-import-position

WORDS = ['a', 'b', 'ab', '##b', '##', 'b##', '.', '?', '!', ',', "'", "n't", "'m", 'do', 'not', ' do not', "'s", "'ve", "'re",
         '▁', '▁a', '▁▁', 'a▁b', '▁▁a▁', ' ', '  ', ' a', 'a ', '  a  ', " ' m", " ' ", ' .', '  .', 'é', 'Ã©', 'Ãa', '日本', 'a日',
         'Ġ', 'Ġa', 'Ċ', 'aĠé', 'ð', 'Ł', 'ĺ', 'Ģ', 'ðŁĺĢ', 'âĤ', '¬', '😀', '<0x41>', '<0xC3>', '<0xA9>', '<0xc3>', '<0xE4>',
         '<0xB8>', '<0xAD>', '<0x00>', '<0x20>', '<0x+A>', '<0x-1>', '<0xG1>', '<0x41>x', '<0xé>', '<0X41>', '</w>', 'a</w>',
         'é</w>b</w>', '<pad>', '|', 'h', 'a<pad>b', "x| .", 'aaa', 'a\nb', '<s>', '</s>']
LEGACY = [{'type': 'Metaspace', 'replacement': '▁', 'add_prefix_space': True},
          {'type': 'Metaspace', 'replacement': '▁'},
          {'type': 'Metaspace', 'replacement': '▁', 'str_rep': '_', 'add_prefix_space': True, 'prepend_scheme': 'never'},
          {'type': 'Metaspace', 'replacement': 'a', 'prepend_scheme': 'never', 'split': False}]


def simple():
    """A decoder of each kind."""
    yield {'type': 'ByteLevel', 'add_prefix_space': True, 'trim_offsets': True, 'use_regex': True}
    for scheme in ('always', 'first', 'never'):
        yield {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': scheme, 'split': True}
    yield from LEGACY
    for prefix, cleanup in itertools.product(('##', '', 'a'), (True, False)):
        yield {'type': 'WordPiece', 'prefix': prefix, 'cleanup': cleanup}
    yield {'type': 'ByteFallback'}
    yield {'type': 'Fuse'}
    for content, (start, stop) in itertools.product((' ', 'é', 'a'), ((1, 0), (0, 1), (2, 1), (0, 0), (3, 0))):
        yield {'type': 'Strip', 'content': content, 'start': start, 'stop': stop}
    for pattern in ({'String': '▁'}, {'String': 'a'}, {'String': ''}, {'String': '.'}, {'Regex': 'a+|b'}, {'Regex': 'x*'},
                    {'Regex': '^'}, {'Regex': '\\s+(?=a)'}):
        for content in (' ', '', 'zz'):
            yield {'type': 'Replace', 'pattern': pattern, 'content': content}
    for suffix in ('</w>', '', 'a'):
        yield {'type': 'BPEDecoder', 'suffix': suffix}
    for pad, delimiter, cleanup in itertools.product(('<pad>', ''), ('|', '', 'ab'), (True, False)):
        yield {'type': 'CTC', 'pad_token': pad, 'word_delimiter_token': delimiter, 'cleanup': cleanup}


def sequence(*decoders):
    return {'type': 'Sequence', 'decoders': list(decoders)}


def usual():
    """What well-known files have."""
    space = {'type': 'Replace', 'pattern': {'String': '▁'}, 'content': ' '}
    fuse, fallback = {'type': 'Fuse'}, {'type': 'ByteFallback'}
    yield None
    yield sequence(space, fallback, fuse, {'type': 'Strip', 'content': ' ', 'start': 1, 'stop': 0})
    yield sequence(space, fallback, fuse)
    yield sequence()
    yield sequence(sequence(fuse), fallback)
    yield sequence(fallback, {'type': 'BPEDecoder', 'suffix': 'b'})
    yield sequence(fuse, {'type': 'ByteLevel'} | next(simple()))


def tokenizer(decoder, vocab, byte_level):
    """Added tokens take the first three places."""
    model = {'type': 'WordLevel', 'vocab': {word: i for i, word in enumerate(vocab)}, 'unk_token': 'a'}
    if byte_level:
        model = {'type': 'BPE', 'vocab': model['vocab'], 'merges': []}
    return {'version': '1.0', 'truncation': None, 'padding': None, 'normalizer': None, 'post_processor': None,
            'added_tokens': [{'id': i, 'content': vocab[i], 'single_word': False, 'lstrip': False, 'rstrip': False,
                              'normalized': False, 'special': i > 0} for i in range(3)],
            'pre_tokenizer': {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': True, 'use_regex': True}
                             if byte_level else None,
            'decoder': decoder, 'model': model}


RULES = {'ab': 'ﬂ', 'a': 'A', '中': '', 'foo': 'a b', ' b': 'B', 'q': ' '}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def piece(content, score, kind=NORMAL):
    return data(1, data(1, content.encode()) + varint(2 << 3 | 5) + struct.pack('<f', score) + number(3, kind))


def denormalizer(rules, prefix, extra, escape):
    return data(5, data(2, make_charsmap(rules)) + number(3, prefix) + number(4, extra) + number(5, escape))


def sentencepiece_model(prefix, extra, escape, unknown, after=b''):
    pieces = [('<unk>', 0, UNKNOWN), ('<s>', 0, CONTROL), ('</s>', 0, CONTROL), ('▁', -1.), ('a', -2.), ('b', -3.), ('▁a', -4.),
              ('▁▁', -5.), ('a▁b', -6.), ('▁▁a▁', -6.), ('foo', 0, USER_DEFINED), ('▁u', 0, USER_DEFINED), ('q', 0, UNUSED),
              ('▁</s>', 0, CONTROL), ('中', -2.)] + [(f'<0x{i:02X}>', 0, BYTE) for i in range(256)]
    trainer = number(3, 1) + number(35, 1) + (b'' if unknown is None else data(44, unknown.encode()))
    normalizer = data(1, b'identity') + number(3, prefix) + number(4, extra) + number(5, escape)
    return b''.join(piece(*p) for p in pieces) + data(2, trainer) + data(3, normalizer) + after


def sentencepiece_ids(rand):
    """Text, and bytes that are text or nearly so."""
    ids = []
    for _ in range(rand.randrange(1, 8)):
        some = rand.choice(['é', '中', '😀', ' a', '\0']).encode()[:rand.randrange(1, 5)]
        ids += rand.choice([[rand.randrange(15)], [rand.randrange(3)], [3], [15 + rand.randrange(256)],
                            [15 + b for b in some]])
    return ids


@contextlib.contextmanager
def silence():
    """The library tells of its own faults (Strip of more than there is) on standard error."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def decode(reference, ids):
    try:
        with silence():
            return reference.decode(ids, skip_special_tokens=False)
    except BaseException as error:  # pylint: disable=broad-except
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


def make_cases():
    rand = random.Random(5)
    for decoder in itertools.chain(usual(), simple()):
        for byte_level in (False, True) if decoder in list(usual())[:3] + [next(simple())] else (False,):
            vocab = rand.sample(WORDS, len(WORDS))
            config = tokenizer(decoder, vocab, byte_level)
            reference = Tokenizer.from_str(json.dumps(config))
            lists = [list(range(len(vocab)))] + [[rand.randrange(len(vocab)) for _ in range(rand.randrange(1, 9))]
                                                 for _ in range(12)]
            cases = [[ids, text] for ids in lists if (text := decode(reference, ids)) is not None]
            yield {'tokenizer': json.dumps(config, ensure_ascii=False, separators=(',', ':')), 'cases': cases}
    for prefix, extra, escape, unknown, *after in [(1, 1, 1, None), (1, 0, 1, None), (0, 1, 1, ''), (0, 0, 0, 'X'),
                                                   (1, 0, 0, '▁?'), (1, 1, 1, None, denormalizer(RULES, 0, 0, 0)),
                                                   (0, 0, 1, None, denormalizer(RULES, 1, 1, 1))]:
        model = sentencepiece_model(prefix, extra, escape, unknown, *after)
        reference = sentencepiece.SentencePieceProcessor(model_proto=model)
        lists = [sentencepiece_ids(rand) for _ in range(40)]
        yield {'model': base64.b64encode(model).decode(), 'cases': [[ids, reference.decode(ids)] for ids in lists]}


class Library:
    """What is compared."""

    class String(ctypes.Structure):
        _fields_ = [('str', ctypes.POINTER(ctypes.c_char)), ('len', ctypes.c_size_t), ('size', ctypes.c_size_t)]

    class Error(ctypes.Structure):
        _fields_ = [('domain', ctypes.c_uint32), ('code', ctypes.c_int), ('message', ctypes.c_char_p)]

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.glib = ctypes.CDLL('libglib-2.0.so.0')
        self.object = ctypes.CDLL('libgobject-2.0.so.0')
        self.lib.dlp_tokenizer_new.restype = ctypes.c_void_p
        self.lib.dlp_tokenizer_decode.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                                  ctypes.c_void_p]
        self.glib.g_string_new.restype = ctypes.POINTER(self.String)
        self.folder = tempfile.mkdtemp()

    def open(self, content):
        path = os.path.join(self.folder, 'model')
        with open(path, 'wb') as file:
            file.write(content)
        error = ctypes.POINTER(self.Error)()
        found = self.lib.dlp_tokenizer_new(path.encode(), None, ctypes.byref(error))
        if not found:
            raise ValueError(error.contents.message.decode())
        return ctypes.c_void_p(found)

    def decode(self, model, ids):
        out = self.glib.g_string_new(None)
        if not self.lib.dlp_tokenizer_decode(model, (ctypes.c_uint32 * len(ids))(*ids), len(ids), out, None):
            raise ValueError(ids)
        text = ctypes.string_at(out.contents.str, out.contents.len).decode()
        self.glib.g_string_free(out, 1)
        return text

    def close(self, model):
        self.object.g_object_unref(model)


def random_decoder(rand, depth=0):
    if depth < 3 and rand.random() < .4:
        return sequence(*[random_decoder(rand, depth + 1) for _ in range(rand.randrange(4))])
    return rand.choice(list(simple()))


def compare_json(library, rand):
    words = WORDS + [''.join(rand.choice("ab .,'▁éĠ#日|n't<0x41>") for _ in range(rand.randrange(1, 9))) for _ in range(40)]
    vocab = list(dict.fromkeys(rand.sample(words, len(words))))
    config = json.dumps(tokenizer(random_decoder(rand) if rand.random() < .95 else None, vocab, rand.random() < .4))
    reference, mine = Tokenizer.from_str(config), library.open(config.encode())
    for _ in range(50):
        ids = [rand.randrange(len(vocab)) for _ in range(rand.randrange(1, 12))]
        wanted = decode(reference, ids)
        if wanted is not None:
            found = library.decode(mine, ids)
            assert found == wanted, (config, ids, [vocab[i] for i in ids], found, wanted)
            yield ids
    library.close(mine)


def compare_sentencepiece(library, rand):
    after = rand.choice([b'', denormalizer(RULES, *[rand.randrange(2) for _ in range(3)])])
    model = sentencepiece_model(*[rand.randrange(2) for _ in range(3)], rand.choice([None, '', 'X', '▁']), after)
    reference, mine = sentencepiece.SentencePieceProcessor(model_proto=model), library.open(model)
    for _ in range(50):
        ids = sentencepiece_ids(rand)
        found, wanted = library.decode(mine, ids), reference.decode(ids)
        assert found == wanted, (ids, found, wanted)
        yield ids
    library.close(mine)


def compare(path, seeds):
    library = Library(path)
    print(f'1..{len(seeds)}')
    for i, seed in enumerate(seeds, 1):
        rand, n = random.Random(seed), 0
        for _ in range(400):
            n += sum(1 for _ in compare_json(library, rand)) + sum(1 for _ in compare_sentencepiece(library, rand))
        print(f'ok {i} seed {seed}: {n} texts are equal', flush=True)


if len(sys.argv) > 1:
    compare(sys.argv[1], [int(seed) for seed in sys.argv[2:]] or [1])
else:
    for line in make_cases():
        print(json.dumps(line, ensure_ascii=False, separators=(',', ':')))
