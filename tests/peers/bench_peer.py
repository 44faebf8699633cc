#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One program beside which bench_tokenizers.py measures, in a process of its own.

usage: bench_peer.py PEER MODEL FILE DOCUMENTS PASSES

PEER is gigatoken, tiktoken, tokenizers or sentencepiece; MODEL a name, FILE what is loaded. Prints what
bench-tokenizer prints: the seconds of CPU time that the first call of the process takes, with a text of
one byte, MB/s of CPU time of each pass, the number of ids, the head of their sha256.
"""
import array
import hashlib
import os
import struct
import sys
import time


def load_gigatoken(model, file):
    import gigatoken
    if file.endswith('.model'):
        tokenizer = gigatoken.Tokenizer.from_sentencepiece(file)
    elif file.endswith('.tiktoken'):
        tokenizer = gigatoken.Tokenizer.from_tiktoken(file)
    else:
        tokenizer = gigatoken.Tokenizer(file)

    def encode(documents):
        if len(documents) == 1:  # only that way does it import what takes most of the first call
            return tokenizer.encode_batch(documents, parallel=False)
        return [tokenizer.encode(text) for text in documents]  # its fastest way
    return encode, lambda ids: ids


def load_tiktoken(model, file):
    import peer_models
    encoding = peer_models.load_encoding(model, os.path.dirname(file))
    return lambda documents: [encoding.encode_ordinary(text) for text in documents], lambda ids: ids


def load_tokenizers(model, file):
    os.environ['TOKENIZERS_PARALLELISM'] = 'false'
    import tokenizers
    tokenizer = tokenizers.Tokenizer.from_file(file)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return lambda documents: tokenizer.encode_batch_fast(documents, add_special_tokens=False), \
        lambda encoding: encoding.ids


def load_sentencepiece(model, file):
    import sentencepiece
    processor = sentencepiece.SentencePieceProcessor(model_file=file)
    return lambda documents: [processor.encode(text) for text in documents], lambda ids: ids


def read(path):
    documents = []
    with open(path, 'rb') as f:
        data = f.read()
    at = 0
    while at < len(data):
        n, = struct.unpack_from('<I', data, at)
        documents.append(data[at + 4:at + 4 + n])
        at += 4 + n
    return documents


def measure(encode, documents):
    start = time.process_time()
    result = encode(documents)
    return time.process_time() - start, result


def main():
    peer, model, file, path, passes = sys.argv[1:]
    encode, get_ids = globals()['load_' + peer](model, file)
    documents = read(path)
    size = sum(map(len, documents)) / 1e6
    first = [b'a']
    if peer != 'gigatoken':  # it takes bytes, the others strings
        documents = [text.decode() for text in documents]
        first = ['a']
    seconds, result = measure(encode, first)
    print('%.4f' % seconds, end=' ')
    for _ in range(int(passes)):
        result = None
        seconds, result = measure(encode, documents)
        print('%.3f' % (size / seconds), end=' ')
    digest = hashlib.sha256()
    n_ids = 0
    for ids in result:
        ids = array.array('I', get_ids(ids))
        digest.update(ids.tobytes())
        n_ids += len(ids)
    print(n_ids, digest.hexdigest()[:16])


if __name__ == '__main__':
    main()
