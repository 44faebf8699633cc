#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed of the tokenizer beside that of others, one thread, documents as they are.

usage: bench_tokenizers.py BENCH_TOKENIZER VOCAB_DIR DOCUMENTS.jsonl... [--models A,B] [--peers A,B]
                           [--rounds N]

A model is a name, or a folder with a tokenizer.json.

BENCH_TOKENIZER is the program of tests/tokenizer. Each round runs every program once in a process of
its own, one after the other, on each file of documents (field "text") with each model; a process makes
one first pass with fresh caches, then further ones. Rates are MB/s of CPU time of the thread. Prints a
table of medians over the rounds, and of the ratios to each peer within a round. Fails if the ids differ.
"""
import array
import hashlib
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

PASSES = 4
SLOW = {'tiktoken': 2, 'tokenizers': 1}


def load(peer, model, vocab):
    """A function from a list of documents, in bytes, to lists of ids, and what is to be encoded."""
    path = os.path.join(vocab, {'gpt2': 'r50k_base'}.get(model, model) + '.tiktoken')
    if peer == 'gigatoken':
        import gigatoken
        if os.path.isdir(model):
            tokenizer = gigatoken.Tokenizer(os.path.join(model, 'tokenizer.json'))
        else:
            tokenizer = gigatoken.Tokenizer.from_tiktoken(path)
        return lambda documents: tokenizer.encode_batch(documents, parallel=False), lambda text: text
    if peer == 'tiktoken':
        import tiktoken
        import tiktoken_ext.openai_public as public
        name = {'gpt2': 'r50k_base'}.get(model, model)
        ranks = tiktoken.load.load_tiktoken_bpe(path)
        public.load_tiktoken_bpe = lambda *a, **b: ranks
        encoding = tiktoken.Encoding(**getattr(public, name)())
        return lambda documents: [encoding.encode_ordinary(text) for text in documents], lambda text: text.decode()
    import tokenizers
    tokenizer = tokenizers.Tokenizer.from_file(os.path.join(model, 'tokenizer.json'))
    tokenizer.encode_special_tokens = True
    return lambda documents: tokenizer.encode_batch_fast(documents, add_special_tokens=False), \
        lambda text: text.decode()


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


def child(peer, model, vocab, path, passes):
    os.environ['TOKENIZERS_PARALLELISM'] = 'false'
    encode, convert = load(peer, model, vocab)
    documents = [convert(text) for text in read(path)]
    size = sum(len(text) for text in read(path))
    rates = []
    for _ in range(passes):
        start = time.process_time()
        result = encode(documents)
        rates.append(size / 1e6 / (time.process_time() - start))
    digest = hashlib.sha256()
    n_ids = 0
    for ids in result:
        ids = array.array('I', ids.ids if peer == 'tokenizers' else ids)
        digest.update(ids.tobytes())
        n_ids += len(ids)
    print(*('%.1f' % rate for rate in rates), n_ids, digest.hexdigest()[:16])


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    *rates, n_ids, digest = done.stdout.split()
    rates = [float(rate) for rate in rates]
    return rates[0], statistics.median(rates[1:]) if rates[1:] else rates[0], digest


def measure(options, model, path):
    cells = {peer: [] for peer in ['dlpipe'] + options['peers']}
    for _ in range(options['rounds']):
        for peer in cells:
            if peer == 'dlpipe':
                command = [options['program'], model, path, str(PASSES)]
            else:
                command = [sys.executable, __file__, '--child', peer, model, options['vocab'], path,
                           str(SLOW.get(peer, PASSES))]
            cells[peer].append(run(command))
    return cells


def report(name, model, cells):
    ours = cells['dlpipe']
    words = ['%-8s %-12s dlpipe %6.1f first %6.1f warm' %
             (name, os.path.basename(model), *(statistics.median(r[i] for r in ours) for i in (0, 1)))]
    same = True
    for peer, theirs in cells.items():
        if peer == 'dlpipe':
            continue
        words.append('%s %6.1f %6.1f (x %.2f %.2f)' % (
            peer, *(statistics.median(r[i] for r in theirs) for i in (0, 1)),
            *(statistics.median(a[i] / b[i] for a, b in zip(ours, theirs)) for i in (0, 1))))
        same = same and theirs[0][2] == ours[0][2]
    print(' | '.join(words) + ('' if same else ' | IDS DIFFER'), flush=True)
    return same


def parse(args):
    options = {'models': ['gpt2', 'cl100k_base', 'o200k_base'], 'peers': ['gigatoken'], 'rounds': 5}
    files = []
    args = iter(args)
    for arg in args:
        if arg in ('--models', '--peers'):
            options[arg[2:]] = [word for word in next(args).split(',') if word]
        elif arg == '--rounds':
            options['rounds'] = int(next(args))
        elif arg.startswith('-'):
            sys.exit(__doc__)
        else:
            files.append(arg)
    if len(files) < 3:
        sys.exit(__doc__)
    options['program'], options['vocab'], *options['files'] = files
    return options


def main():
    if sys.argv[1:2] == ['--child']:
        child(*sys.argv[2:6], int(sys.argv[6]))
        return
    options = parse(sys.argv[1:])
    failed = False
    with tempfile.TemporaryDirectory(prefix='dlpipe-bench-') as folder:
        path = os.path.join(folder, 'documents')
        for file in options['files']:
            with open(file) as lines, open(path, 'wb') as f:
                for line in lines:
                    text = json.loads(line)['text'].encode()
                    f.write(struct.pack('<I', len(text)) + text)
            for model in options['models']:
                name = os.path.basename(file).rpartition('.')[0]
                failed |= not report(name, model, measure(options, model, path))
    sys.exit(failed)


if __name__ == '__main__':
    main()
