#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ids of gpt2, cl100k_base and o200k_base against tiktoken's, on random strings.

usage: test_encodings.py LIBRARY VOCAB_DIR

A string is made of a few characters out of those that the patterns tell apart, up to some hundred of them. As many as
1,000,000 for each encoding, times DLPIPE_TEST_SCALE. What differs is printed.
"""
import ctypes
import os
import random
import sys

import tiktoken
import tiktoken_ext.openai_public as public

N = max(1000, int(1000000 * float(os.environ.get('DLPIPE_TEST_SCALE', '1'))))
ALPHABET = (" \n\r\t'.,!?-/()<>|_#aBcsStTdDmMlLvVrReE019"
            'éÉßſıİȺⱥǅʰªºñ中国日本語한국어あアｱ一αΣςжЖआि०٣²½Ⅷ'
            '\u00a0\u0085\u2028\u3000\u200b\u200d\u180e\u0301\u0308\u20dd\ufe0f\U000e0100'
            '“”…—–·•€£¥©™°→≤∑😀👍🏽🇩🇪𝒜𝟘𐐀𐐨\u0378\ue000\ufeff\x00\x01\x7f')
WORDS = ['the', 'The', "don't", "I'LL", "we've", 'tion', 'ing', 'ABCdef', '中文A', 'http://', '\r\n', '    ', '//', '123', '1234567',
         '<|endoftext|>', '\n\n', ' \n ', "'s", "'S", '\u1100\u1161', 'क्ष']


class Tokenizer:
    def __init__(self, library, model):
        self.library = ctypes.CDLL(library)
        self.library.dlp_tokenizer_new.restype = ctypes.c_void_p
        self.library.dlp_tokenizer_new.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
        self.library.dlp_tokenizer_context_new.restype = ctypes.c_void_p
        self.library.dlp_tokenizer_context_new.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.library.dlp_tokenizer_encode.restype = ctypes.c_ssize_t
        self.library.dlp_tokenizer_encode.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p,
                                                      ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        self.tokenizer = self.library.dlp_tokenizer_new(model.encode(), None, None)
        self.context = self.library.dlp_tokenizer_context_new(self.tokenizer, 0)
        self.ids = (ctypes.c_uint32 * 8192)()

    def encode(self, text):
        data = text.encode()
        n = self.library.dlp_tokenizer_encode(self.tokenizer, self.context, data, len(data), self.ids, len(self.ids))
        return self.ids[:n]


def make_string(random):
    kind = random.random()
    few = [random.choice(ALPHABET) for _ in range(random.randint(1, 8))]
    n = random.randint(1, 12) if kind < 0.6 else random.randint(10, 150)
    if kind > 0.9:
        few += WORDS
    return ''.join(random.choice(few) for _ in range(n))


def load_peer(name, folder):
    path = os.path.join(folder, {'gpt2': 'r50k_base'}.get(name, name) + '.tiktoken')
    public.load_tiktoken_bpe = lambda *a, **b: tiktoken.load.load_tiktoken_bpe(path)
    return tiktoken.Encoding(**getattr(public, {'gpt2': 'r50k_base'}.get(name, name))())


def compare(number, name, library, folder):
    tokenizer = Tokenizer(library, name)
    peer = load_peer(name, folder)
    numbers = random.Random(number)
    n_different = 0
    for _ in range(N):
        text = make_string(numbers)
        wanted = peer.encode_ordinary(text)
        got = tokenizer.encode(text)
        if got != wanted:
            n_different += 1
            if n_different < 5:
                print('# %r: %s, not %s' % (text, got, wanted))
    print('%s %d %s: %d strings, %d differ' % ('not ok' if n_different else 'ok', number, name, N, n_different), flush=True)


def main():
    library, folder = sys.argv[1:3]
    os.environ['DLPIPE_VOCAB_PATH'] = folder
    names = ['gpt2', 'cl100k_base', 'o200k_base']
    for number, name in enumerate(names, 1):
        compare(number, name, library, folder)
    print('1..%d' % len(names))


if __name__ == '__main__':
    main()
