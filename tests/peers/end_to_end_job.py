#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main job by another program, for bench_end_to_end.py: .jsonl.zst files to a file of ids.

usage: end_to_end_job.py datatrove MODEL_DIR OUT_DIR FILE...
       end_to_end_job.py gigatoken-files MODEL_DIR OUT_DIR FILE...
       end_to_end_job.py gigatoken-batches MODEL_DIR OUT_DIR FILE...
       end_to_end_job.py model RANK_FILE MODEL_DIR

Each has two workers; ids are of 16 bits, with <|endoftext|> behind each document. datatrove: its
pipeline of a JSON lines reader and a DocumentTokenizer, two tasks. gigatoken-files: gigatoken reads the
files itself, in two threads. gigatoken-batches: two processes, each zstandard, orjson and
gigatoken, 1,000 documents at a time. The last form writes what the programs load, in the format of
Hugging Face, from the rank file of gpt2.
"""
import base64
import functools
import io
import itertools
import json
import multiprocessing
import os
import sys

EOD = '<|endoftext|>'
EOD_ID = 50256
WORKERS = 2


def deal(files):
    """The order in which the first of two tasks, which take turns, gets the first half."""
    half = (len(files) + 1) // WORKERS
    pairs = itertools.zip_longest(files[:half], files[half:])
    return [file for pair in pairs for file in pair if file]


def run_datatrove(model, out, files):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    folder = os.path.dirname(os.path.abspath(files[0]))
    names = os.path.join(out, 'names')
    with open(names, 'w') as f:
        f.writelines(os.path.basename(file) + '\n' for file in deal(files))
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(folder, paths_file=names, compression='zstd'),
            DocumentTokenizer(os.path.join(out, 'ids'), tokenizer_name_or_path=os.path.join(model, 'tokenizer.json'),
                              eos_token=EOD, shuffle_documents=False, save_filename='ids'),
        ],
        tasks=WORKERS, workers=WORKERS, logging_dir=os.path.join(out, 'log')).run()


def with_end(documents):
    """The ids of an array of documents, each with its end, as 16-bit numbers."""
    import awkward
    import numpy
    flat = numpy.asarray(awkward.flatten(documents)).astype(numpy.uint16)
    return numpy.insert(flat, numpy.cumsum(numpy.asarray(awkward.num(documents))), EOD_ID)


def run_gigatoken_files(model, out, files):
    os.environ['RAYON_NUM_THREADS'] = str(WORKERS)
    import gigatoken
    documents = load_gigatoken(model).encode_files(gigatoken.JsonlFileSource(files), parallel=True)
    with_end(documents).tofile(os.path.join(out, 'ids'))


@functools.lru_cache
def load_gigatoken(model):
    import gigatoken
    return gigatoken.Tokenizer(os.path.join(model, 'tokenizer.json'))


def encode_file(model, out, numbered):
    import orjson
    import zstandard
    tokenizer = load_gigatoken(model)
    n, file = numbered
    texts = []
    with open(os.path.join(out, 'ids-%03d' % n), 'wb') as sink, open(file, 'rb') as packed:
        source = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        for line in io.BufferedReader(source, 1 << 20):
            texts.append(orjson.loads(line)['text'])
            if len(texts) == 1000:
                with_end(tokenizer.encode_batch(texts, parallel=False)).tofile(sink)
                texts = []
        if texts:
            with_end(tokenizer.encode_batch(texts, parallel=False)).tofile(sink)


def run_gigatoken_batches(model, out, files):
    with multiprocessing.Pool(WORKERS) as pool:
        pool.map(functools.partial(encode_file, model, out), enumerate(files), chunksize=1)


def byte_letters():
    """The letter by which the files of GPT-2 write each byte."""
    shown = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [byte for byte in range(256) if byte not in shown]
    letters = {byte: chr(byte) for byte in shown}
    letters.update((byte, chr(0x100 + i)) for i, byte in enumerate(others))
    return letters


def last_merge(ranks, token):
    """The two parts from which the token is made, when merges are done by rank."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        pairs = [ranks.get(a + b, len(ranks)) for a, b in zip(parts, parts[1:])]
        i = pairs.index(min(pairs))
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts


def make_model(rank_file, folder):
    with open(rank_file, 'rb') as f:
        pairs = (line.split() for line in f)
        ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    letters = byte_letters()

    def write(token):
        return ''.join(letters[byte] for byte in token)

    tokens = sorted(ranks, key=ranks.get)
    merges = [[write(part) for part in last_merge(ranks, token)] for token in tokens if len(token) > 1]
    vocab = {write(token): ranks[token] for token in tokens}
    vocab[EOD] = EOD_ID
    byte_level = {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': True, 'use_regex': True}
    whole = {
        'version': '1.0', 'truncation': None, 'padding': None, 'normalizer': None, 'post_processor': None,
        'added_tokens': [{'id': EOD_ID, 'content': EOD, 'single_word': False, 'lstrip': False, 'rstrip': False,
                          'normalized': False, 'special': True}],
        'pre_tokenizer': byte_level, 'decoder': byte_level,
        'model': {'type': 'BPE', 'dropout': None, 'unk_token': None, 'continuing_subword_prefix': '',
                  'end_of_word_suffix': '', 'fuse_unk': False, 'byte_fallback': False,
                  'vocab': vocab, 'merges': [' '.join(merge) for merge in merges]},
    }
    config = {'tokenizer_class': 'GPT2TokenizerFast', 'add_prefix_space': False, 'model_max_length': 1 << 30,
              'bos_token': EOD, 'eos_token': EOD, 'unk_token': EOD}
    os.makedirs(folder, exist_ok=True)
    for name, value in (('tokenizer.json', whole), ('tokenizer_config.json', config), ('vocab.json', vocab)):
        with open(os.path.join(folder, name), 'w') as f:
            json.dump(value, f, ensure_ascii=False)
    with open(os.path.join(folder, 'merges.txt'), 'w') as f:
        f.write('#version: 0.2\n')
        f.writelines(' '.join(merge) + '\n' for merge in merges)


def main():
    runs = {'datatrove': run_datatrove, 'gigatoken-files': run_gigatoken_files,
            'gigatoken-batches': run_gigatoken_batches}
    if sys.argv[1:2] == ['model'] and len(sys.argv) == 4:
        make_model(*sys.argv[2:])
    elif len(sys.argv) > 4 and sys.argv[1] in runs:
        os.makedirs(sys.argv[3], exist_ok=True)
        runs[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
