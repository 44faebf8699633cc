#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed of the tokenizer beside that of others, documents as they are, and where a bar is missed.

usage: bench_tokenizers.py BUILD_FOLDER [--parts encodings,models,regex,threads] [--corpora A,B]
                           [--models A,B] [--peers A,B] [--rounds N] [--slow-rounds N] [--threads N]
                           [--limit MB] [--json FILE]

After tests/peers/setup, with .venv-peers/bin/python. Each round runs every program once in a process of
its own, one after the other, on the documents of each corpus; the slow ones (all but gigatoken) take part
in the first --slow-rounds rounds only. A process makes one first pass with fresh caches, then further ones,
on one thread. Loading does not count, nor what gigatoken does once in a process at its first call of
encode_batch (mostly an import); its column "first call" is with that. Speeds are ids and bytes per second
of CPU time. Prints a line for each cell as it is measured, then tables of medians over the rounds and of
the ratios within a round, in Markdown, and what is below its bar. --limit cuts each corpus, --json writes
every figure. Exits with 1 if ids differ, unless they are only gigatoken's, which always finds special
tokens in the text ("<s>").

encodings  gpt2, cl100k_base, o200k_base, qwen3, llama3 beside gigatoken, tiktoken and tokenizers
models     SentencePiece BPE (llama2, gemma3), Unigram trained on the corpora, WordPiece (bert)
regex      the patterns of gpt2, cl100k_base, o200k_base spelled so that PCRE2 runs them
threads    --threads (2) threads of one tokenizer beside as many independent copies
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

import peer_models

PARTS = ['encodings', 'models', 'regex', 'threads']
CORPORA = ['en', 'code', 'cjk', 'multi', 'mix']
ENCODINGS = ['gpt2', 'cl100k_base', 'o200k_base', 'qwen3', 'llama3']
PASSES = 4
SLOW_PASSES = 2
VOCAB = os.path.normpath(os.path.join(peer_models.HERE, '../../core/tokenizer/vocab'))
WHAT = {'llama2': 'SentencePiece BPE', 'gemma3': 'SentencePiece BPE', 'unigram': 'Unigram',
        'unigram.model': 'Unigram', 'bert': 'WordPiece'}


class Cell:
    """Programs that encode the same documents with the same model."""

    def __init__(self, part, model, programs):
        self.part = part
        self.model = model
        self.programs = programs  # name -> command without the documents and passes
        self.runs = {name: [] for name in programs}

    def get(self, program, key):
        return statistics.median(run[key] for run in self.runs[program])

    def ratio(self, program, key):
        return statistics.median(ours[key] / theirs[key] for ours, theirs in
                                 zip(self.runs['dlpipe'], self.runs[program]))


def peer_command(peer, model, file):
    return [sys.executable, os.path.join(peer_models.HERE, 'bench_peer.py'), peer, model, file]


def ranks_of(model):
    return os.path.join(VOCAB, peer_models.RANKS[model] + '.tiktoken')


def file_of(model):
    name, _, suffix = model.partition('.')
    return os.path.join(peer_models.find_model(name), 'tokenizer.' + (suffix or 'json'))


def list_encodings(program, peers):
    for model in ENCODINGS:
        ours = model if model in peer_models.RANKS else file_of(model)
        programs = {'dlpipe': [program, ours]}
        for peer in peers:
            if peer == 'tokenizers':
                programs[peer] = peer_command(peer, model, file_of(model))
            elif model in peer_models.RANKS:
                programs[peer] = peer_command(peer, model, ranks_of(model))
            elif peer == 'gigatoken':
                programs[peer] = peer_command(peer, model, ours)
        programs.pop('sentencepiece', None)
        yield Cell('encodings', model, programs)


def list_models(program, peers):
    for model, others in (('llama2.model', ['gigatoken', 'sentencepiece']),
                          ('gemma3', ['gigatoken', 'tokenizers']), ('unigram', ['tokenizers']),
                          ('unigram.model', ['sentencepiece']), ('bert', ['tokenizers'])):
        programs = {'dlpipe': [program, file_of(model)]}
        for peer in others:
            if peer in peers:
                programs[peer] = peer_command(peer, model, file_of(model))
        yield Cell('models', model, programs)


def list_regexes(program, peers):
    for model in peer_models.RANKS:
        pattern = peer_models.load_encoding(model, VOCAB)._pat_str
        programs = {'dlpipe': [program, ranks_of(model), f'(?:{pattern})'],
                    'scanner': [program, model]}
        if 'tiktoken' in peers:
            programs['tiktoken'] = peer_command('tiktoken', model, ranks_of(model))
        yield Cell('regex', model, programs)


def list_threads(program, n):
    program = os.path.join(os.path.dirname(program), 'bench-threads')
    for model in ENCODINGS:
        file = model if model in peer_models.RANKS else file_of(model)
        yield Cell('threads', model, {'dlpipe': [program, file, n, 'threads'],
                                      'copies': [program, file, n, 'copies']})


def list_cells(options):
    program = os.path.join(options.build, 'tests/tokenizer/bench-tokenizer')
    makers = {'encodings': lambda: list_encodings(program, options.peers),
              'models': lambda: list_models(program, options.peers),
              'regex': lambda: list_regexes(program, options.peers),
              'threads': lambda: list_threads(program, str(options.threads))}
    return [cell for part in options.parts for cell in makers[part]()
            if not options.models or cell.model in options.models]


def run(cell, name, documents, size):
    program, *rest = cell.programs[name]
    own = name in ('dlpipe', 'scanner', 'copies')
    passes = str(PASSES if own or name == 'gigatoken' else SLOW_PASSES)
    if own:
        command = [program, rest[0], documents, passes, *rest[1:]]
    else:
        command = [program, *rest, documents, passes]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    result = {'digest': None}
    if cell.part == 'threads':
        result['ids'] = int(done.pop())
        result['wall'], result['passes'] = ([float(rate) for rate in done[i::2]] for i in (0, 1))
        result['wall warm'] = statistics.median(result['wall'][1:])
    else:
        result['digest'] = done.pop()
        result['ids'] = int(done.pop())
        result['tables'] = float(done[0])
        result['passes'] = [float(rate) for rate in done[1:]]
        result['first call'] = 1 / (1 / result['passes'][0] + result['tables'] / size)
    result['first'] = result['passes'][0]
    result['warm'] = statistics.median(result['passes'][1:])
    return result


def find_different(cell):
    """The programs whose ids are others than ours."""
    ids = {name: {(run['ids'], run['digest']) for run in runs} for name, runs in cell.runs.items()}
    return [name for name in ids if ids[name] != ids['dlpipe'] or len(ids[name]) > 1]


def measure(cell, corpus, documents, size, options):
    cell = Cell(cell.part, cell.model, cell.programs)
    cell.corpus = corpus
    for i in range(options.rounds):
        for name in cell.programs:
            slow = name in ('tiktoken', 'tokenizers', 'sentencepiece')
            if not slow or i < options.slow_rounds:
                cell.runs[name].append(run(cell, name, documents, size))
    cell.ids_per_byte = cell.runs['dlpipe'][0]['ids'] / size / 1e6
    words = [f'{cell.part} {corpus} {cell.model}:']
    for name in cell.programs:
        words.append(f'{name} {cell.get(name, "first"):.1f} {cell.get(name, "warm"):.1f}'
                     + ('' if name == 'dlpipe' else
                        f' (x {cell.ratio(name, "first"):.2f} {cell.ratio(name, "warm"):.2f})'))
    cell.different = find_different(cell)
    print(*words, 'MB/s', *(f'| ids of {name} differ' for name in cell.different), flush=True)
    return cell


def show_ids(cell, program, *keys):
    """Millions of ids per second."""
    return ' / '.join(f'{cell.get(program, key) * cell.ids_per_byte:.1f}' for key in keys)


def show_ratio(cell, program):
    if not cell.runs.get(program):
        return ''
    digits = 2 if cell.ratio(program, 'first') < 10 else 0
    return ', '.join(f'{cell.ratio(program, key):.{digits}f}' for key in ('first', 'warm'))


def show_mb(cell, program='dlpipe', *keys):
    if not cell.runs.get(program):
        return ''
    return ' / '.join(f'{cell.get(program, key):.0f}' if cell.get(program, key) >= 10 else
                      f'{cell.get(program, key):.1f}' for key in keys or ('first', 'warm'))


def row_of_encodings(cell):
    giga = show_ids(cell, 'gigatoken', 'first call', 'first', 'warm') if cell.runs.get('gigatoken') else ''
    return [f'{cell.corpus} {cell.model}', show_ids(cell, 'dlpipe', 'first', 'warm'), show_mb(cell), giga,
            *(show_ratio(cell, peer) for peer in ('gigatoken', 'tiktoken', 'tokenizers'))]


def row_of_models(cell):
    kind = WHAT[cell.model if cell.model in WHAT else cell.model.partition('.')[0]]
    return [f'{cell.corpus} {cell.model} ({kind})', show_ids(cell, 'dlpipe', 'first', 'warm'),
            show_mb(cell),
            *(show_ratio(cell, peer) for peer in ('gigatoken', 'sentencepiece', 'tokenizers'))]


def row_of_regex(cell):
    return [f'{cell.corpus} {cell.model}', show_ids(cell, 'dlpipe', 'first', 'warm'), show_mb(cell),
            show_mb(cell, 'scanner'), show_ratio(cell, 'tiktoken')]


def row_of_threads(cell):
    return [f'{cell.corpus} {cell.model}', show_mb(cell, 'dlpipe', 'wall warm'),
            show_mb(cell, 'copies', 'wall warm'), f'{cell.ratio("copies", "wall warm"):.2f}',
            show_mb(cell, 'dlpipe', 'warm'), show_mb(cell, 'copies', 'warm'),
            f'{cell.ratio("copies", "warm"):.2f}']


TABLES = {
    'encodings': (row_of_encodings, [
        'corpus, encoding', 'dlpipe first / warm, M ids/s', 'the same, MB/s',
        'gigatoken first call / first / warm, M ids/s', 'x gigatoken', 'x tiktoken', 'x tokenizers']),
    'models': (row_of_models, [
        'corpus, model', 'dlpipe first / warm, M ids/s', 'the same, MB/s', 'x gigatoken',
        'x sentencepiece', 'x tokenizers']),
    'regex': (row_of_regex, [
        'corpus, encoding', 'PCRE2 first / warm, M ids/s', 'the same, MB/s',
        'scanner first / warm, MB/s', 'PCRE2 x tiktoken']),
    'threads': (row_of_threads, [
        'corpus, encoding', 'threads, MB/s by the clock', 'copies', 'ratio',
        'threads, MB/s of CPU time', 'copies', 'ratio']),
}


def find_misses(cell):
    """What of a cell is below its bar."""
    bars = []
    if cell.part == 'encodings':
        first = 2 if cell.corpus in ('cjk', 'multi') else 1
        bars = [('gigatoken', 'first', first), ('gigatoken', 'warm', 1)]
        bars += [(peer, key, bar) for peer, bar in (('tiktoken', 10), ('tokenizers', 30))
                 for key in ('first', 'warm')]
    elif cell.model in ('unigram', 'bert'):
        bars = [('tokenizers', 'first', 10), ('tokenizers', 'warm', 10)]
    elif cell.part == 'threads':
        bars = [('copies', 'wall warm', 0.95), ('copies', 'warm', 0.95)]
    for peer, key, bar in bars:
        if cell.runs.get(peer) and cell.ratio(peer, key) < bar:
            yield f'{key}: {cell.ratio(peer, key):.2f} times {peer}, bar {bar}'
    speed = 50 if cell.part == 'regex' else 100
    if cell.part == 'regex' or cell.model in ('llama2.model', 'gemma3'):
        for key in ('first', 'warm'):
            if cell.get('dlpipe', key) < speed:
                yield f'{key}: {cell.get("dlpipe", key):.0f} MB/s, bar {speed}'


def print_tables(cells):
    for part, (make_row, head) in TABLES.items():
        rows = [make_row(cell) for cell in cells if cell.part == part]
        if rows:
            print()
            for row in [head, ['---'] * len(head), *rows]:
                print('| ' + ' | '.join(row) + ' |')
    print()
    for cell in cells:
        for name in cell.different:
            print(f'{cell.part} {cell.corpus} {cell.model}: ids of {name} differ')
        for miss in find_misses(cell):
            print(f'below its bar: {cell.part} {cell.corpus} {cell.model}, {miss}')


def write_documents(path, name, limit):
    """The size in millions of bytes."""
    size = 0
    with open(path, 'wb') as file:
        for text in peer_models.read_corpus(name):
            data = text.encode()
            if size + len(data) > limit * 1e6 and size:
                break
            file.write(struct.pack('<I', len(data)) + data)
            size += len(data)
    return size / 1e6


def write_json(path, cells, options):
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'rounds': options.rounds, 'limit': options.limit, 'load': os.getloadavg(), 'cells': [
            {'part': cell.part, 'corpus': cell.corpus, 'model': cell.model,
             'ids differ': cell.different, 'ids per byte': cell.ids_per_byte, 'runs': cell.runs,
             'misses': list(find_misses(cell))}
            for cell in cells]}, file, indent=1)


def parse():
    def names(text):
        return [word for word in text.split(',') if word]
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('--parts', type=names, default=PARTS)
    parser.add_argument('--corpora', type=names, default=CORPORA)
    parser.add_argument('--models', type=names)
    parser.add_argument('--peers', type=names,
                        default=['gigatoken', 'tiktoken', 'tokenizers', 'sentencepiece'])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--slow-rounds', type=int, default=1)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--limit', type=float, default=1e9)
    parser.add_argument('--json')
    return parser.parse_args()


def main():
    options = parse()
    os.environ['DLPIPE_VOCAB_PATH'] = VOCAB
    try:
        cells = list_cells(options)
    except peer_models.Skip as reason:
        sys.exit(str(reason))
    done = []
    with tempfile.TemporaryDirectory(prefix='dlpipe-bench-') as folder:
        path = os.path.join(folder, 'documents')
        for corpus in options.corpora:
            size = write_documents(path, corpus, options.limit)
            for cell in cells:
                done.append(measure(cell, corpus, path, size, options))
                if options.json:
                    write_json(options.json, done, options)
    print_tables(done)
    sys.exit(any(set(cell.different) - {'gigatoken'} for cell in done))


if __name__ == '__main__':
    main()
