#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes sentencepiece.json: small SentencePiece models, texts, and the ids that the package
`sentencepiece` gives for them. Needs it (0.2.3 was used). usage: make-sentencepiece.py > FILE
"""
import base64
import json
import random
import struct

import sentencepiece

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2


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
    return data(1, data(1, content.encode()) + varint(2 << 3 | 5) + struct.pack('<f', score) +
                number(3, kind))


def model(kind, pieces, byte_fallback=False):
    out = piece('<unk>', 0, UNKNOWN) + piece('<s>', 0, CONTROL) + piece('</s>', 0, CONTROL)
    if byte_fallback:
        out += b''.join(piece(f'<0x{i:02X}>', 0, BYTE) for i in range(256))
    out += b''.join(piece(*p) for p in pieces)
    trainer = number(3, kind) + (number(35, 1) if byte_fallback else b'')
    return out + data(2, trainer) + data(3, data(1, b'identity') + number(3, 0) + number(4, 0))


WORDS = ['▁', 'a', 'b', 'ab', '▁a', 'ba', '中', '中国', '▁▁', '▁ab', 'aba', 'é']
SCORED = [(word, -1.5 * i) for i, word in enumerate(WORDS)]
RUNS = [('▁▁▁', -30.), ('▁▁▁▁', -30.), ('aa', -30.), ('bb', -30.), ('aaaa', -30.)]


def models():
    defined = [('foo', 0, USER_DEFINED), ('fo', 0, USER_DEFINED), ('oba', 0, USER_DEFINED)]
    for name, kind in (('bpe', BPE), ('unigram', UNIGRAM)):
        yield name, model(kind, SCORED)
        yield name + '-ties', model(kind, SCORED + RUNS)
        yield name + '-bytes', model(kind, SCORED + RUNS, True)
        yield name + '-user-defined', model(kind, SCORED + defined + [('f', -2.), ('o', -3.)])
        yield name + '-unlisted', model(kind, SCORED + [('xa', -4.), ('xxa', -3.), ('国国', -9.)])
        yield name + '-unlisted-bytes', model(kind, SCORED + [('xa', -4.), ('国国a', -9.),
                                                              ('国国', -8.)], True)
    yield 'unigram-unused', model(UNIGRAM, [*SCORED[:3], ('ab', -1, UNUSED), *SCORED[4:]])
    yield 'unigram-long', model(UNIGRAM, [('a', -301.), ('ab', -640.5), ('b', -900.), ('c', -250.),
                                          ('bc', -600.002), ('▁', -700.)])


def texts(rand):
    fixed = ['a', 'x', '中国', 'abab', 'foobar', 'fooba', 'ofoo', 'aaaaaaa', '▁▁▁▁▁a', 'xxa', '国国国', 'é😀é',
             '<s>', '<unk>', '<0x61>', 'xyz', 'axya', 'abc', 'abcabc' * 200]
    return fixed + [''.join(rand.choice('aaabbcfoo中国é😀▁▁x') for _ in range(rand.randrange(1, 24)))
                    for _ in range(25)]


def main():
    rand = random.Random(6)
    cases = []
    for name, proto in models():
        processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        inputs = texts(rand)
        for text in inputs:
            assert processor.normalize(text) == text
        cases.append({'name': name, 'model': base64.b64encode(proto).decode(),
                      'cases': [[text, processor.encode(text)] for text in inputs]})
    lines = ',\n'.join(json.dumps(case, ensure_ascii=False, separators=(',', ':')) for case in cases)
    print('[' + lines + ']')


main()
