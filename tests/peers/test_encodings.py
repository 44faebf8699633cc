#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole tokenizers against tiktoken, tokenizers and sentencepiece, on random strings.

usage: test_encodings.py LIBRARY VOCAB_DIR [MODEL...]: the path of encode-probe.c's shared library.

A string is made of a few characters out of those that the patterns and normalizers tell apart, up to
some hundred of them, or of entries and special tokens of the vocabulary. As many as 1,000,000 for each
of the ten encodings that differ most and a tenth of it for each of the others, times
DLPIPE_TEST_SCALE; a tenth of each once more with special tokens found. What differs is printed.
"""
import os
import random
import sys

import peer_models

N = int(1000000 * float(os.environ.get('DLPIPE_TEST_SCALE', '1')))
BATCH = 20000
ALPHABET = (" \n\r\t'.,!?-/()<>|_#aBcsStTdDmMlLvVrReE019"
            'éÉßſıİȺⱥǅʰªºñ中国日本語한국어あアｱ一αΣςжЖआि०٣²½Ⅷ'
            '\u00a0\u0085\u2028\u3000\u200b\u200d\u180e\u0301\u0308\u20dd\ufe0f\U000e0100'
            '“”…—–·•€£¥©™°→≤∑😀👍🏽🇩🇪𝒜𝟘𐐀𐐨\u0378\ue000\ufeff\x00\x01\x7f')
WORDS = ['the', 'The', "don't", "I'LL", "we've", 'tion', 'ing', 'ABCdef', '中文A', 'http://', '\r\n', '    ', '//', '123', '1234567',
         '<|endoftext|>', '\n\n', ' \n ', "'s", "'S", '\u1100\u1161', 'क्ष']
NFC = ['e\u0301', '\u0327\u0301', 'a\u0315\u0300', '\u1100\u1161\u11a8', '각', '\u212b', '\u0344', '\u0f73', '\u1e9b\u0323', '\u0958',
       '\u2126', 'é', 'ở', 'o\u031b\u0309', '\u1dfa', '\u0315\u1df7']
NFKC = NFC + ['ﬁ', '①', 'ｆ', '㌀', 'ﷺ', '½', '\u32ff', '\u00a0', '\u2003', 'ª', '\u0132', '\uff9e', '\u3000', '𝒜', '²']
SPACES = ['▁', '▁▁', ' ▁', '▁ ', '<0x0A>', '<s>', '</s>', '<unk>', '  ', '\n\n\n', '\t\t', '    ']
MORE = {'qwen3': NFC, 'claude': NFKC, 'gemma3': SPACES, 'gemini': SPACES, 'mistral_v1': SPACES, 'llama2': SPACES + NFKC,
        'deepseek_v3': [*'$+=^`~ヿぁ゠ゟ\u9fa5\u9fa6\u303f\u3040\u3100\u4dff\u00ad\u0600\U000f0000'],
        'bert': NFKC + ['##ing', '[UNK]', '[MASK]', '\ufffd', 'a' * 101, '\u2f00', '\U00020000', 'ÀÉ', 'İ', '¡', '$', '^']}


class Strings:
    def __init__(self, seed, name, peer):
        self.random = random.Random(seed)
        self.letters = ALPHABET + ''.join(word for word in MORE.get(name, []) if len(word) == 1)
        self.words = WORDS + MORE.get(name, []) + peer.list_specials()[:60]
        self.entries = [entry for entry in peer.list_entries() if entry and '\ufffd' not in entry]

    def make(self):
        kind = self.random.random()
        few = self.random.choices(self.letters, k=self.random.randint(1, 8))
        n = self.random.randint(1, 12) if kind < 0.6 else self.random.randint(10, 150)
        if kind > 0.95:
            few += self.random.choices(self.entries, k=8)
            n //= 3
        elif kind > 0.9:
            few += self.random.choices(self.words, k=8)
        return ''.join(self.random.choices(few, k=n))


def compare(probe, peer, strings, n, specials):
    n_different = 0
    for start in range(0, n, BATCH):
        texts = [strings.make() for _ in range(min(BATCH, n - start))]
        wanted, got = peer.encode(texts, specials), probe.encode(texts, specials)
        different = wanted.find_different(got)
        n_different += len(different)
        if different and n_different - len(different) < 5:
            wanted, got = wanted.split(), got.split()
            for i in sorted(different, key=lambda i: len(texts[i]))[:4]:
                print(f'# {texts[i]!r}: {got[i].tolist()}, not {wanted[i].tolist()}', flush=True)
    if n_different:
        raise AssertionError(f'{n_different} of {n} strings differ')


def check(seed, name, kind, library, vocab):
    n = max(1000, N if seed <= 12 else N // 10)
    probe, peer = peer_models.load(name, kind, library, vocab)
    strings = Strings(seed, name, peer)
    compare(probe, peer, strings, n, False)
    comment = f'{n} strings equal'
    if peer.has_specials:
        compare(probe, peer, strings, n // 10, True)
        comment += f', and {n // 10} with special tokens found'
    probe.close()
    return comment


def main():
    library, vocab, *wanted = sys.argv[1:]
    os.environ['DLPIPE_VOCAB_PATH'] = vocab
    tests = []
    for seed, (name, kind) in enumerate(peer_models.list_models(), 1):
        if not wanted or name in wanted:
            tests.append((f'{name} ({kind})', lambda a=(seed, name, kind): check(*a, library, vocab)))
    peer_models.run_tests(tests)


if __name__ == '__main__':
    main()
