# SPDX-License-Identifier: MIT
"""What the comparisons of whole tokenizers share: the models, dlpipe's ids of many texts (through
encode-probe.c), those of tiktoken, tokenizers and sentencepiece, and the corpora.
"""
import base64
import csv
import ctypes
import io
import itertools
import json
import os
import shutil
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.normpath(os.path.join(HERE, '../../.venv-peers'))
MODELS = os.path.join(VENV, 'models')
CORPORA = os.environ.get('DLPIPE_PEERS_CORPUS') or os.path.join(VENV, 'corpus')
RANKS = {'gpt2': 'r50k_base', 'cl100k_base': 'cl100k_base', 'o200k_base': 'o200k_base'}
JSON = ['llama3', 'qwen3', 'deepseek_v3', 'gemma3', 'gemini', 'claude', 'mistral_v1', 'bert',
        'gptoss', 'gpt2', 'cl100k_base', 'o200k_base']
TEKKEN = ['tekken_240911', 'tekken_240718']
SENTENCEPIECE = ['llama2', 'mistral_model_v1', 'mistral_model_v2', 'mistral_model_v3',
                 'mistral_model_v7']


class Skip(Exception):
    """Something is not there; why."""


class Ids:
    """The ids of a list of texts, one after the other, and how many each has."""

    def __init__(self, ids, counts):
        self.ids = ids
        self.counts = counts

    @classmethod
    def of_lists(cls, lists):
        counts = numpy.fromiter(map(len, lists), numpy.uint64, len(lists))
        flat = itertools.chain.from_iterable(lists)
        return cls(numpy.fromiter(flat, numpy.uint32, int(counts.sum())), counts)

    def find_different(self, other):
        """The numbers of the texts whose ids differ."""
        if numpy.array_equal(self.counts, other.counts) and numpy.array_equal(self.ids, other.ids):
            return []
        return [i for i, (a, b) in enumerate(zip(self.split(), other.split()))
                if not numpy.array_equal(a, b)]

    def split(self):
        return numpy.split(self.ids, numpy.cumsum(self.counts)[:-1].astype(int))


class Probe:
    """dlpipe's tokenizer of a model."""

    def __init__(self, library, model):
        self.library = ctypes.CDLL(library)
        self.library.encode_probe_open.restype = ctypes.c_void_p
        self.library.encode_probe_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.encode_probe_encode.restype = ctypes.c_int64
        self.library.encode_probe_encode.argtypes = [
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
            ctypes.c_void_p]
        self.library.encode_probe_get_ids.restype = ctypes.POINTER(ctypes.c_uint32)
        self.library.encode_probe_get_ids.argtypes = [ctypes.c_void_p]
        self.library.encode_probe_close.argtypes = [ctypes.c_void_p]
        message = ctypes.create_string_buffer(1000)
        self.probe = self.library.encode_probe_open(model.encode(), message, len(message))
        if not self.probe:
            raise ValueError(message.value.decode())

    def encode(self, texts, specials=False):
        data = [text.encode() for text in texts]
        starts = numpy.zeros(len(data) + 1, numpy.uint64)
        numpy.cumsum(numpy.fromiter(map(len, data), numpy.uint64, len(data)), out=starts[1:])
        joined = b''.join(data) + b'\0'
        counts = numpy.zeros(len(data), numpy.uint64)
        n = self.library.encode_probe_encode(self.probe, joined, starts.ctypes.data, len(data),
                                             specials, counts.ctypes.data)
        if n < 0:
            raise ValueError(f'cannot encode {texts[-1 - n]!r}')
        if n == 0:
            return Ids(numpy.zeros(0, numpy.uint32), counts)
        ids = self.library.encode_probe_get_ids(self.probe)
        return Ids(numpy.ctypeslib.as_array(ids, (n,)).copy(), counts)

    def close(self):
        self.library.encode_probe_close(self.probe)


def load_encoding(name, folder):
    """tiktoken's own of that name, with the rank file of the tree: nothing is fetched."""
    import tiktoken
    import tiktoken_ext.openai_public as public
    ranks = tiktoken.load.load_tiktoken_bpe(os.path.join(folder, RANKS[name] + '.tiktoken'))
    public.load_tiktoken_bpe = lambda *a, **b: ranks
    return tiktoken.Encoding(**getattr(public, RANKS[name])())


class Tiktoken:
    kind = 'tiktoken'
    has_specials = True

    def __init__(self, encoding, offset=0):
        self.encoding = encoding
        self.offset = offset

    @classmethod
    def of_tekken(cls, path):
        """Ranks and pattern as mistral-common gives them to tiktoken; special tokens come first."""
        import tiktoken
        with open(path, encoding='utf-8') as file:
            tree = json.load(file)
        config = tree['config']
        offset = config['default_num_special_tokens']
        n = config['default_vocab_size'] - offset
        ranks = {base64.b64decode(entry['token_bytes']): entry['rank'] for entry in tree['vocab'][:n]}
        tekken = cls(tiktoken.Encoding('tekken', pat_str=config['pattern'], mergeable_ranks=ranks,
                                       special_tokens={}), offset)
        tekken.has_specials = False
        return tekken

    def encode(self, texts, specials=False):
        if specials:
            result = Ids.of_lists(self.encoding.encode_batch(texts, num_threads=os.cpu_count(),
                                                             allowed_special='all'))
        else:
            result = Ids.of_lists(self.encoding.encode_ordinary_batch(texts,
                                                                      num_threads=os.cpu_count()))
        result.ids += numpy.uint32(self.offset)
        return result

    def list_entries(self):
        return [entry.decode('utf-8', 'ignore') for entry in self.encoding.token_byte_values()]

    def list_specials(self):
        return sorted(self.encoding.special_tokens_set)


class HuggingFace:
    kind = 'tokenizers'
    has_specials = True

    def __init__(self, path):
        import tokenizers
        self.tokenizer = tokenizers.Tokenizer.from_file(path)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts, specials=False):
        self.tokenizer.encode_special_tokens = not specials
        return Ids.of_lists([encoding.ids for encoding in self.tokenizer.encode_batch_fast(
            texts, add_special_tokens=False)])

    def list_entries(self):
        n = self.tokenizer.get_vocab_size(with_added_tokens=False)
        return self.tokenizer.decode_batch([[i] for i in range(n)])

    def list_specials(self):
        return [token.content for token in self.tokenizer.get_added_tokens_decoder().values()]


class SentencePiece:
    kind = 'sentencepiece'
    has_specials = False

    def __init__(self, path):
        import sentencepiece
        self.processor = sentencepiece.SentencePieceProcessor(model_file=path)

    def encode(self, texts, specials=False):
        return Ids.of_lists(self.processor.encode(texts, num_threads=os.cpu_count()))

    def list_entries(self):
        return [self.processor.id_to_piece(i).replace('▁', ' ')
                for i in range(self.processor.get_piece_size())]

    def list_specials(self):
        return [self.processor.id_to_piece(i) for i in range(self.processor.get_piece_size())
                if self.processor.is_control(i) or self.processor.is_unknown(i)]


def find_charsmap(model):
    """The precompiled_charsmap (field 2) of the normalizer_spec (field 3) of a SentencePiece model."""
    def read_number(at):
        value = shift = 0
        while True:
            byte = model[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
    at, inside = 0, False
    while at < len(model):
        key, at = read_number(at)
        field, kind = key >> 3, key & 7
        if kind == 2:
            size, at = read_number(at)
            if inside and field == 2:
                return model[at:at + size]
            inside = inside or field == 3
            if field != 3:
                at += size
        elif kind == 0:
            _, at = read_number(at)
        else:
            at += 4 if kind == 5 else 8
    raise ValueError('no precompiled_charsmap')


def write_unigram_json(folder, data):
    """What T5's tokenizer.json is made of, for a SentencePiece model."""
    import sentencepiece
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    vocab = [[processor.id_to_piece(i), processor.get_score(i)]
             for i in range(processor.get_piece_size())]
    charsmap = base64.b64encode(find_charsmap(data)).decode()
    tree = {'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': [],
            'normalizer': {'type': 'Precompiled', 'precompiled_charsmap': charsmap},
            'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': [
                {'type': 'WhitespaceSplit'},
                {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'always', 'split': True}]},
            'post_processor': None, 'decoder': None,
            'model': {'type': 'Unigram', 'unk_id': processor.unk_id(), 'vocab': vocab,
                      'byte_fallback': False}}
    with open(os.path.join(folder, 'tokenizer.json'), 'w', encoding='utf-8') as file:
        json.dump(tree, file, ensure_ascii=False)
    with open(os.path.join(folder, 'tokenizer.model'), 'wb') as file:
        file.write(data)


def make_unigram(folder):
    """A Unigram model of 16,000 entries, trained on some of the corpora; no real one is to be had."""
    import sentencepiece
    lines = [line for name in ('en', 'cjk', 'multi') for document in read_corpus(name)[::10]
             for line in document.split('\n') if line]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, model_type='unigram', vocab_size=16000,
        minloglevel=2, num_threads=1)
    os.makedirs(MODELS, exist_ok=True)
    made = tempfile.mkdtemp(prefix='unigram-', dir=MODELS)
    try:
        write_unigram_json(made, out.getvalue())
        os.rename(made, folder)
    except OSError:
        if not os.path.isdir(folder):  # another test may have made it at the same time
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def find_model(name):
    """The folder of a model of models.tsv, or of "unigram", which is made if it is not there."""
    folder = os.path.join(MODELS, name)
    if name == 'unigram' and not os.path.isdir(folder):
        make_unigram(folder)
    reason = os.path.join(folder, 'missing')
    if os.path.exists(reason):
        with open(reason, encoding='utf-8') as file:
            raise Skip(file.read().replace('\n', ' '))
    if not os.path.isdir(folder):
        raise Skip('tests/peers/setup-models has not run')
    return folder


def load(name, kind, library, vocab):
    """dlpipe's tokenizer and the one it is compared with. @vocab: the tree's rank files."""
    if kind == 'ranks':
        return Probe(library, name), Tiktoken(load_encoding(name, vocab))
    file, peer = {'tekken': ('tekken.json', Tiktoken.of_tekken), 'json': ('tokenizer.json', HuggingFace),
                  'sentencepiece': ('tokenizer.model', SentencePiece)}[kind]
    path = os.path.join(find_model(name), file)
    return Probe(library, path), peer(path)


def list_models():
    """Pairs of name and kind; those that differ most come first."""
    return [(name, 'ranks') for name in RANKS] + [(name, 'json') for name in JSON[:7]] + \
        [('llama2', 'sentencepiece'), ('tekken_240911', 'tekken'), ('bert', 'json')] + \
        [(name, 'json') for name in JSON[8:]] + [('tekken_240718', 'tekken')] + \
        [(name, 'sentencepiece') for name in SENTENCEPIECE[1:]] + \
        [('unigram', 'json'), ('unigram', 'sentencepiece')]


def read_corpus(name):
    """The documents of a corpus."""
    path = os.path.join(CORPORA, name + '.jsonl')
    if not os.path.exists(path):
        raise Skip(f'no {name}.jsonl: tests/peers/make-corpus has not run and DLPIPE_PEERS_CORPUS '
                   'names no folder with it')
    with open(path, encoding='utf-8') as file:
        return [json.loads(line)['text'] for line in file]


def read_table(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return list(csv.reader((line for line in file if not line.startswith('#')), delimiter='\t'))


def run_tests(tests):
    """TAP of pairs of a name and a function that returns a comment; exits with 1 if one failed."""
    print(f'1..{len(tests)}', flush=True)
    failed = False
    for i, (name, test) in enumerate(tests, 1):
        try:
            print(f'ok {i} {name}: {test()}', flush=True)
        except Skip as reason:
            print(f'ok {i} {name} # SKIP {reason}', flush=True)
        except Exception as error:  # whatever it is, the others are to run
            failed = True
            print(f'not ok {i} {name}\n# {error!r}'[:4000], flush=True)
    raise SystemExit(failed)
