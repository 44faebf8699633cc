#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes models.json: small models of tokenizer.json, pieces, and the ids that the package
`tokenizers` gives for them. Needs it (0.23.3 was used). usage: make-models.py > models.json
"""
import json
import random

from tokenizers import Tokenizer

OWN = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
LETTERS = {byte: chr(byte) for byte in OWN}
LETTERS |= {byte: chr(0x100 + i) for i, byte in enumerate(b for b in range(256) if b not in OWN)}
BPE = {'type': 'BPE', 'dropout': None, 'unk_token': None, 'continuing_subword_prefix': None,
       'end_of_word_suffix': None, 'fuse_unk': False, 'byte_fallback': False,
       'ignore_merges': False}
BYTES = [f'<0x{i:02X}>' for i in range(256)]
WORDS = ['a', 'b', 'c', 'ab', 'bc', 'abc', 'é', '中', '中国', '😀', '▁', '▁a', '<unk>', '>', '▁▁']


def letters(data):
    return ''.join(LETTERS[b] for b in data)


def vocab(*entries):
    return {entry: i for i, entry in enumerate(dict.fromkeys(entries))}


def bpe(entries, merges, **options):
    return {**BPE, 'vocab': vocab(*entries), 'merges': merges, **options}


def byte_models():
    alphabet = [letters([b]) for b in range(256)]
    grown = ['th', 'the', 'Ġt', 'Ġthe', 'in', 'ing', 'aa', 'aaa', 'aaaa', 'ĠĠ', 'ä¸Ń', 'ä¸', 'he']
    merges = [['a', 'a'], ['h', 'e'], ['Ġ', 't'], ['t', 'h'], ['aa', 'aa'], ['th', 'e'],
              ['Ġt', 'he'], ['i', 'n'], ['in', 'g'], ['aa', 'a'], ['Ġ', 'Ġ'], ['ä', '¸'],
              ['ä¸', 'Ń']]
    yield 'bytes', bpe(alphabet + grown, merges)
    yield 'bytes-strings', bpe(alphabet + grown, ['#version: 0.2'] + [' '.join(m) for m in merges])
    yield 'bytes-ids-not-in-order', bpe((alphabet + grown)[::-1], merges)
    yield 'bytes-ignore-merges', bpe(alphabet + grown + ['hex', 'aath'], merges, ignore_merges=True)
    yield 'bytes-unreachable', bpe(alphabet + grown + ['hex', 'aath'], merges)
    yield 'bytes-foreign', bpe(alphabet + grown + ['中', '中国', '国'], merges + [['中', '国']])
    yield 'bytes-repeated', bpe(alphabet + grown, [['t', 'h'], *merges[:5], ['h', 'e'], ['t', 'h'],
                                                   *merges[5:]])
    some = [letter for letter in alphabet if letter not in 'x¸é']
    yield 'bytes-missing', bpe(some + [g for g in grown if '¸' not in g],
                               [m for m in merges if '¸' not in ''.join(m)])
    yield 'bytes-missing-unk', bpe(['<unk>'] + some + [g for g in grown if '¸' not in g],
                                   [m for m in merges if '¸' not in ''.join(m)],
                                   unk_token='<unk>', fuse_unk=True)
    ends = [letter + '</w>' for letter in alphabet]
    yield 'bytes-suffix', bpe(alphabet + ends + ['th', 'the</w>', 'he</w>', 'in', 'ing</w>'],
                              [['t', 'h'], ['th', 'e</w>'], ['h', 'e</w>'], ['i', 'n'],
                               ['in', 'g</w>']], end_of_word_suffix='</w>')


def char_models():
    merges = [['a', 'b'], ['b', 'c'], ['ab', 'c'], ['中', '国'], ['▁', 'a'], ['▁', '▁'], ['a', 'bc']]
    words = WORDS + ['国']
    yield 'chars-drop', bpe(words, merges)
    yield 'chars-unk', bpe(words, merges, unk_token='<unk>')
    yield 'chars-fuse', bpe(words, merges, unk_token='<unk>', fuse_unk=True)
    yield 'chars-bytes', bpe(BYTES + words, merges, unk_token='<unk>', byte_fallback=True,
                             fuse_unk=True)
    yield 'chars-some-bytes', bpe(BYTES[:200] + words, merges, unk_token='<unk>',
                                  byte_fallback=True)
    yield 'chars-some-bytes-fuse', bpe(BYTES[:200] + words, merges, unk_token='<unk>',
                                       byte_fallback=True, fuse_unk=True)
    yield 'chars-unk-merges', bpe(words + ['<unk>a', '<unk>中'],
                                  merges[:3] + [['<unk>', 'a'], ['<unk>', '中']] + merges[3:],
                                  unk_token='<unk>', fuse_unk=True)
    yield 'chars-across-space', bpe(BYTES + words + ['c▁', 'c▁a', '>▁', '>▁a'],
                                    merges + [['c', '▁'], ['c', '▁a'], ['>', '▁a']],
                                    unk_token='<unk>', byte_fallback=True)
    yield 'chars-ignore-merges', bpe(BYTES + words + ['cab'], merges, unk_token='<unk>',
                                     byte_fallback=True, ignore_merges=True)
    yield 'chars-prefix', bpe(['<unk>', 'a', 'b', 'c', '##a', '##b', '##c', 'ab', '##bc', 'abc'],
                              [['##b', '##c'], ['a', '##b'], ['ab', '##c'], ['a', '##bc']],
                              unk_token='<unk>', continuing_subword_prefix='##')
    yield 'chars-prefix-suffix', bpe(['<unk>', 'a', 'b', '--a', '--b', '--a!', '--b!', 'a!', 'b!',
                                      'ab', 'ab!', '--ab!'],
                                     [['--a', '--b!'], ['a', '--b'], ['a', '--b!']],
                                     unk_token='<unk>', continuing_subword_prefix='--',
                                     end_of_word_suffix='!')


def other_models():
    yield 'word-piece', {'type': 'WordPiece', 'unk_token': '<unk>', 'max_input_chars_per_word': 6,
                         'continuing_subword_prefix': '##',
                         'vocab': vocab('<unk>', 'a', 'ab', '##b', '##c', '##bc', '中', '##国', 'bca')}
    yield 'word-piece-no-prefix', {'type': 'WordPiece', 'unk_token': '<unk>',
                                   'max_input_chars_per_word': 100,
                                   'continuing_subword_prefix': '', 'vocab': vocab(*WORDS)}
    yield 'word-piece-no-type', {'unk_token': '<unk>', 'max_input_chars_per_word': 3,
                                 'continuing_subword_prefix': '', 'vocab': vocab(*WORDS)}
    yield 'word-level', {'type': 'WordLevel', 'unk_token': '<unk>', 'vocab': vocab(*WORDS)}
    yield 'word-level-no-type', {'unk_token': '<unk>', 'vocab': vocab(*WORDS)}
    scores = [[word, -1.5 * i] for i, word in enumerate(WORDS)]
    yield 'unigram', {'type': 'Unigram', 'unk_id': 12, 'vocab': scores, 'byte_fallback': False}
    yield 'unigram-no-type', {'unk_id': 12, 'vocab': scores}
    yield 'unigram-bytes', {'type': 'Unigram', 'unk_id': 12, 'byte_fallback': True,
                            'vocab': scores + [[byte, 0] for byte in BYTES]}
    yield 'unigram-some-bytes', {'type': 'Unigram', 'unk_id': 12, 'byte_fallback': True,
                                 'vocab': scores + [[byte, 0] for byte in BYTES[:200]]}
    yield 'unigram-ties', {'type': 'Unigram', 'unk_id': 0, 'byte_fallback': False,
                           'vocab': [['<unk>', 0], ['a', -1], ['aa', -2], ['aaa', -3], ['b', -2],
                                     ['ab', -3], ['ba', -3], ['aba', -4]]}
    yield 'unigram-repeated', {'type': 'Unigram', 'unk_id': 0, 'byte_fallback': False,
                               'vocab': [['<unk>', 0], ['a', -1], ['b', -2], ['ab', -9], ['a', -5],
                                         ['', -30], ['中', -3]]}
    yield 'unigram-run-is-entry', {'type': 'Unigram', 'unk_id': 0, 'byte_fallback': False,
                                   'vocab': [['<unk>', 0], ['a', 30], ['中国', -60], ['b', 2]]}


def pieces(rand, by_bytes):
    fixed = ['a', 'x', 'é', '中国', 'abc', 'abcabc', '<unk>', 'the', ' the the', 'hex', 'aath', 'aaaa',
             'aaaaaaa', 'thinghex', '中', '国中国', '▁a▁▁a', 'xyz', 'axya', '<unk>x', 'x<unk>y', '<0x61>']
    alphabet = 'aaabbcc中国é😀▁▁x>' if not by_bytes else 'thehingaax  中éx<unk>'
    return fixed + [''.join(rand.choice(alphabet) for _ in range(rand.randrange(1, 24)))
                    for _ in range(25)]


def main():
    rand = random.Random(5)
    cases = []
    named = [*byte_models(), *char_models(), *other_models()]
    for name, model in named:
        by_bytes = name.startswith('bytes')
        tokenizer = Tokenizer.from_str(json.dumps({'version': '1.0', 'added_tokens': [], 'model': model,
                                                   'truncation': None, 'padding': None,
                                                   'normalizer': None, 'pre_tokenizer': None,
                                                   'post_processor': None, 'decoder': None}))
        texts = pieces(rand, by_bytes)
        inputs = [letters(text.encode()) if by_bytes else text for text in texts]
        cases.append({'name': name, 'byte_level': by_bytes, 'model': model,
                      'cases': [[text, [t.id for t in tokenizer.model.tokenize(i)]]
                                for text, i in zip(texts, inputs)]})
    lines = ',\n'.join(json.dumps(case, ensure_ascii=False, separators=(',', ':')) for case in cases)
    print('[' + lines + ']')


main()
