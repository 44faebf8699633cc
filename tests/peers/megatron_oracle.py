#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a Megatron dataset from .jsonl, .jsonl.gz and .jsonl.zst files without any part of dlpipe.

usage: megatron_oracle.py [--vocab-dir DIR] --model gpt2|cl100k_base|o200k_base PREFIX FILE...
       megatron_oracle.py [--vocab-dir DIR] --expected FILE...

The first form writes PREFIX.bin and PREFIX.idx. The second prints the lines of expected.tsv for the
three models. The ids come from the library tiktoken (its own patterns and special tokens, the rank
files of DIR instead of a download), the layout from struct alone. Files are taken in the order given.
"""
import argparse
import gzip
import hashlib
import json
import os
import struct
import subprocess
import tempfile

import tiktoken
from tiktoken.load import load_tiktoken_bpe
from tiktoken_ext import openai_public

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = {  # name: (tiktoken's own definition, rank file, the special token that ends a document)
    'gpt2': (openai_public.r50k_base, 'r50k_base.tiktoken', '<|endoftext|>'),
    'cl100k_base': (openai_public.cl100k_base, 'cl100k_base.tiktoken', '<|endoftext|>'),
    'o200k_base': (openai_public.o200k_base, 'o200k_base.tiktoken', '<|endoftext|>'),
}


def encoding(model, vocab_dir):
    define, file_name, _ = MODELS[model]
    path = os.path.join(vocab_dir, file_name)
    original = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = (
        lambda url, expected_hash=None: load_tiktoken_bpe(path, expected_hash))
    try:
        return tiktoken.Encoding(**define())
    finally:
        openai_public.load_tiktoken_bpe = original


def lines(path):
    if path.endswith('.gz'):
        with gzip.open(path, 'rb') as f:
            yield from f
    elif path.endswith('.zst'):
        with subprocess.Popen(['zstd', '-dcq', path], stdout=subprocess.PIPE) as p:
            yield from p.stdout
        if p.returncode != 0:
            raise SystemExit('zstd failed on %s' % path)
    else:
        with open(path, 'rb') as f:
            yield from f


def write(model, vocab_dir, prefix, paths):
    """Writes the pair; returns (documents, sequences, tokens)."""
    enc = encoding(model, vocab_dir)
    eod = enc.encode_single_token(MODELS[model][2])
    code, letter = (8, 'H') if enc.n_vocab < 65500 else (4, 'i')
    lengths, document_ends = [], [0]
    with open(prefix + '.bin', 'wb') as out:
        for path in paths:
            for line in lines(path):
                if not line.strip():
                    continue
                ids = enc.encode_ordinary(json.loads(line)['text'])
                if ids:
                    ids.append(eod)
                    lengths.append(len(ids))
                    out.write(struct.pack('<%d%s' % (len(ids), letter), *ids))
                document_ends.append(len(lengths))
    with open(prefix + '.idx', 'wb') as out:
        out.write(b'MMIDIDX\0\0' + struct.pack('<QBQQ', 1, code, len(lengths), len(document_ends)))
        out.write(struct.pack('<%di' % len(lengths), *lengths))
        place, pointers = 0, []
        for n in lengths:
            pointers.append(place)
            place += n * struct.calcsize('<' + letter)
        out.write(struct.pack('<%dq' % len(lengths), *pointers))
        out.write(struct.pack('<%dq' % len(document_ends), *document_ends))
    return len(document_ends) - 1, len(lengths), sum(lengths)


def sha256(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


def print_expected(vocab_dir, paths):
    print('model\tdocuments\tsequences\ttokens\tbin_sha256\tidx_sha256')
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, 'x')
            counts = write(model, vocab_dir, prefix, paths)
            print('\t'.join([model, *map(str, counts), sha256(prefix + '.bin'),
                             sha256(prefix + '.idx')]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--vocab-dir', default=os.path.join(ROOT, 'core', 'tokenizer', 'vocab'))
    parser.add_argument('--model', choices=MODELS)
    parser.add_argument('--expected', action='store_true')
    parser.add_argument('arguments', nargs='+', metavar='PREFIX FILE')
    args = parser.parse_args()
    if args.expected:
        print_expected(args.vocab_dir, args.arguments)
    elif not args.model or len(args.arguments) < 2:
        parser.error('--model, a prefix and at least one file are needed')
    else:
        print('%d documents, %d sequences, %d tokens'
              % write(args.model, args.vocab_dir, args.arguments[0], args.arguments[1:]))


if __name__ == '__main__':
    main()
