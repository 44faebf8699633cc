#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole tokenizers on the corpora of make-corpus.

usage: test_corpora.py LIBRARY VOCAB_DIR [MODEL...]: the path of encode-probe.c's shared library.

Each corpus as one text: the number of its ids and their sha256 are those of corpora.tsv. Then every
document of all corpora, with each model: the ids are those of tiktoken, tokenizers or sentencepiece.
With DLPIPE_TEST_SCALE below 1, that part of the documents. Prints TAP.
"""
import hashlib
import os
import sys

import numpy

import peer_models

SCALE = float(os.environ.get('DLPIPE_TEST_SCALE', '1'))
BATCH = 200


def check_whole(row, library):
    name, size, sha256, *wanted = row
    text = '\n'.join(peer_models.read_corpus(name))
    data = text.encode()
    if (str(len(data)), hashlib.sha256(data).hexdigest()) != (size, sha256):
        raise peer_models.Skip(f'{name} is made of other versions of the packages than corpora.tsv')
    for model, n, digest in zip(peer_models.RANKS, wanted[::2], wanted[1::2]):
        probe = peer_models.Probe(library, model)
        ids = probe.encode([text]).ids.astype('<u4')
        probe.close()
        got = (str(len(ids)), hashlib.sha256(ids.tobytes()).hexdigest()[:16])
        if got != (n, digest):
            raise AssertionError(f'{model}: {got}, not {(n, digest)}')
    return ', '.join(f'{n} ids of {model}' for model, n in zip(peer_models.RANKS, wanted[::2]))


def check_documents(name, kind, library, vocab):
    documents = peer_models.read_corpus('mix')
    if SCALE < 1:
        documents = documents[::int(1 / SCALE)]
    probe, peer = peer_models.load(name, kind, library, vocab)
    n_ids = 0
    for start in range(0, len(documents), BATCH):
        batch = documents[start:start + BATCH]
        wanted, got = peer.encode(batch), probe.encode(batch)
        n_ids += len(got.ids)
        for i in wanted.find_different(got)[:1]:
            a, b = wanted.split()[i], got.split()[i]
            n = min(len(a), len(b))
            at = int(numpy.argmax(a[:n] != b[:n])) if (a[:n] != b[:n]).any() else n
            raise AssertionError(f'document {start + i} ({batch[i][:60]!r}...): id {at} and on are '
                                 f'{b[at:at + 20].tolist()}, not {a[at:at + 20].tolist()}')
    probe.close()
    return f'{len(documents)} documents, {n_ids} ids equal'


def main():
    library, vocab, *wanted = sys.argv[1:]
    os.environ['DLPIPE_VOCAB_PATH'] = vocab
    tests = [(f'{row[0]} as one text', lambda r=row: check_whole(r, library))
             for row in peer_models.read_table('corpora.tsv') if not wanted]
    for name, kind in peer_models.list_models():
        if not wanted or name in wanted:
            tests.append((f'{name} ({kind})', lambda a=(name, kind): check_documents(*a, library, vocab)))
    peer_models.run_tests(tests)


if __name__ == '__main__':
    main()
