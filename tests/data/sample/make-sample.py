#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the sample corpus of this folder again from packages that distributions ship.

usage: make-sample.py WORK_DIR [OUT_DIR]

Fetches the Debian 12 packages and the npm package of README.md into WORK_DIR (about 110 MB) unless
they are there, and writes the .jsonl.zst and .jsonl.gz files. The text of the records is the same
every time; the compressed bytes are too with zstd 1.5.4 and zlib 1.2.13.
"""
import gzip
import io
import json
import os
import re
import struct
import subprocess
import sys
import zlib

DEBS = ['php-faker', 'jargon-text', 'dict-devil', 'golang-1.19-src', 'libstb-dev',
        'librust-memchr-dev', 'libjs-underscore', 'python3-toolz',
        'sword-dict-strongs-greek', 'sword-dict-strongs-hebrew']
NPM = 'chinese-poetry@2.0.1'
PD = 'public-domain'


def fetch(work):
    os.makedirs(work, exist_ok=True)
    for name in DEBS:
        folder = os.path.join(work, name)
        if os.path.isdir(folder):
            continue
        subprocess.run(['apt-get', 'download', '-qq', name], cwd=work, check=True)
        deb = sorted(f for f in os.listdir(work) if f.startswith(name + '_') and f.endswith('.deb'))[-1]
        subprocess.run(['dpkg-deb', '-x', deb, folder], cwd=work, check=True)
    if not os.path.isdir(os.path.join(work, 'chinese-poetry')):
        subprocess.run(['npm', 'pack', '--silent', NPM], cwd=work, check=True)
        os.mkdir(os.path.join(work, 'chinese-poetry'))
        subprocess.run(['tar', 'xzf', 'chinese-poetry-2.0.1.tgz', '-C', 'chinese-poetry',
                        'package/dist/yudingquantangshi/json/001.json',
                        'package/dist/yudingquantangshi/json/002.json'], cwd=work, check=True)


class Sources:
    def __init__(self, work):
        self.work = work

    def read(self, path):
        path = os.path.join(self.work, path)
        with (gzip.open if path.endswith(('.gz', '.dz')) else open)(path, 'rb') as f:
            return f.read().decode('utf-8').replace('\r\n', '\n')

    def faker(self, locale):
        php = self.read('php-faker/usr/share/php/Faker/Provider/%s/Text.php' % locale)
        return re.search(r"baseText = <<<'EOT'\n(.*?)\nEOT;", php, re.S).group(1).strip() + '\n'

    def sword(self, package, name):
        """Entries of a compressed SWORD dictionary: (key, text)."""
        base = os.path.join(self.work, package, 'usr/share/sword/modules/lexdict/zld', name, 'dict')
        idx, dat, zdx, zdt = (open(base + e, 'rb').read() for e in ('.idx', '.dat', '.zdx', '.zdt'))
        blocks = {}
        for start, size in struct.iter_unpack('<II', idx):
            key, place = dat[start:start + size].split(b'\r\n', 1)
            block, entry = struct.unpack('<II', place[:8])
            if block not in blocks:
                at, length = struct.unpack_from('<II', zdx, 8 * block)
                blocks[block] = zlib.decompress(zdt[at:at + length])
            at, length = struct.unpack_from('<II', blocks[block], 4 + 8 * entry)
            text = blocks[block][at:at + length].rstrip(b'\0').decode('utf-8')
            text = re.sub(r'<(entryFree|lb)\b[^>]*>', '\n', text)
            text = re.sub(r'<[^>]*>', '', text)
            text = text.replace('&lt;', '<').replace('&gt;', '>').replace('&amp;', '&')
            yield key.decode(), re.sub(r'[ \t]*\n\s*', '\n', text).strip()

    def tree(self, folder, names):
        root = os.path.join(self.work, folder)
        for name in sorted(names, key=lambda n: n.encode()):
            yield name, self.read(os.path.join(root, name))


def by_heading(text, pattern):
    """Cut before every line that matches."""
    cuts = [m.start() for m in re.finditer(pattern, text, re.M)]
    cuts = sorted(set([0] + cuts + [len(text)]))
    return [p for p in (text[a:b].strip('\n') for a, b in zip(cuts, cuts[1:])) if p.strip()]


def by_size(text, sizes, separator='\n\n'):
    """Runs of whole paragraphs; the wanted sizes in characters are taken in turn."""
    out, run, size, turn = [], [], 0, 0
    for paragraph in text.split(separator):
        if not paragraph.strip():
            continue
        run.append(paragraph.strip('\n'))
        size += len(paragraph)
        if size >= sizes[turn % len(sizes)]:
            out.append(separator.join(run))
            run, size, turn = [], 0, turn + 1
    return out + ([separator.join(run)] if run else [])


def records(texts, lang, source, licence, title, titles=None):
    for i, text in enumerate(texts):
        yield {'id': '%s/%d' % (source, i), 'lang': lang, 'source': source, 'license': licence,
               'meta': {'title': titles[i] if titles else title, 'part': i}, 'text': text}


def lines_of(recs, ascii_only=False):
    return [(json.dumps(r, ensure_ascii=ascii_only) + '\n').encode() for r in recs]


def write_gz(path, lines, members=1):
    with open(path, 'wb') as f:
        for part in deal(lines, members):
            member = io.BytesIO()
            with gzip.GzipFile('', 'wb', 9, member, mtime=0) as z:
                z.write(b''.join(part))
            f.write(member.getvalue())


def write_zst(path, lines, frames=1, skippable=False):
    with open(path, 'wb') as f:
        for i, part in enumerate(deal(lines, frames)):
            if skippable and i == 1:
                note = b'a skippable frame, which readers pass over'
                f.write(struct.pack('<II', 0x184D2A50, len(note)) + note)
            f.write(subprocess.run(['zstd', '-19', '-q', '--check', '-c'], input=b''.join(part),
                                   stdout=subprocess.PIPE, check=True).stdout)


def deal(lines, parts):
    n = len(lines)
    return [lines[n * i // parts:n * (i + 1) // parts] for i in range(parts)]


def jargon(text):
    entries = by_heading(text[text.index('\n   :abbrev:') + 1:], r'^   :[^:\n]+:')
    return [re.sub(r'^   ', '', e, flags=re.M).strip('\n') for e in entries][::3]


def devil(text):
    entries = by_heading(text[text.index('ABASEMENT, n.'):], r'^[A-Z][A-Z\' -]+(, |\.  ?|\.$)')
    return [e.strip() for e in entries]


def poems(sources):
    texts, titles = [], []
    for number in ('001', '002'):
        path = 'chinese-poetry/package/dist/yudingquantangshi/json/%s.json' % number
        for poem in json.loads(sources.read(path)):
            texts.append('\n'.join([poem['title'], poem['author'], ''] + poem['paragraphs']))
            titles.append(poem['title'])
    return texts, titles


def edge_texts():
    """Written for dlpipe: the shapes that real text rarely has."""
    return ['', 'a', ' ', '\n', '\t\tx\n\n\n   y', 'one\r\ntwo\r\n', 'e\u0301 is not \u00e9',
            '\U0001f469\u200d\U0001f680 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1ea\U0001f1fa',
            '\u202bright to left\u202c \u200bzero width', '0' * 1000, 'a' * 3000, ' ' * 700,
            '3.14159 1,000,000 0x7fff 1e-9', "it's we'll THEY'RE I'd", 'NUL: \0, BEL: \a, DEL: \x7f',
            '"quotes" and \\ backslashes / slashes', '\ufeffbyte order mark', '']


def make(sources, out):
    def zst(name, recs, **how):
        write_zst(os.path.join(out, name + '.jsonl.zst'), lines_of(recs), **how)

    def gz(name, recs, ascii_only=False, **how):
        write_gz(os.path.join(out, name + '.jsonl.gz'), lines_of(recs, ascii_only), **how)

    text = sources.faker('ar_SA')
    zst('ar-hayy', records(by_size(text, [600, 1500, 4000], '\n'), 'ar', 'hayy-ibn-yaqdhan', PD,
                           'حي بن يقظان'))
    text = sources.faker('de_DE')
    zst('de-werther', records(by_heading(text, r'^Am \d+\. [A-Z]\w+.*$'), 'de', 'werther', PD,
                              'Die Leiden des jungen Werther, Buch 1'))
    entries = [t for k, t in sources.sword('sword-dict-strongs-greek', 'strongsgreek') if t][::8]
    entries += [t for k, t in sources.sword('sword-dict-strongs-hebrew', 'strongshebrew') if t][::24]
    gz('el-he-strong', records(entries, 'el', 'strong', PD,
                               "Strong's Dictionaries of Greek and Hebrew Words"), members=3)
    text = sources.faker('en_US')
    gz('en-alice', records(by_heading(text, r'^\s*CHAPTER [IVX]+\.'), 'en', 'alice', PD,
                           "Alice's Adventures in Wonderland"), members=5)
    text = sources.read('dict-devil/usr/share/dictd/devil.dict.dz')
    zst('en-devil', records(devil(text), 'en', 'devil', PD, "The Devil's Dictionary"), frames=7)
    text = sources.read('jargon-text/usr/share/doc/jargon-text/jargon.txt.gz')
    zst('en-jargon', records(jargon(text), 'en', 'jargon', PD, 'The Jargon File 4.4.7'), frames=11,
        skippable=True)
    text = sources.read('golang-1.19-src/usr/share/go-1.19/src/testdata/Isaac.Newton-Opticks.txt')
    text = text[text.index('OPTICKS:'):]
    zst('en-opticks', records([text], 'en', 'opticks', PD, 'Opticks, 4th edition'))
    text = sources.faker('es_ES')
    gz('es-trafalgar', records(by_size(text, [300, 900, 2500], '\n'), 'es', 'trafalgar', PD,
                               'Trafalgar'))
    text = sources.faker('fr_FR')[:340000]
    text = text[:text.rindex('\n\n')]
    zst('fr-bovary', records(by_size(text, [400, 2000, 700, 9000]), 'fr', 'bovary', PD,
                             'Madame Bovary'), frames=2)
    text = sources.faker('ja_JP')
    gz('ja-ginga', records(by_heading(text, r'^[一二三四五六七八九]　\S'), 'ja', 'ginga', PD,
                           '銀河鉄道の夜'), members=2)
    text = sources.faker('ka_GE')
    text = text[:60000]
    zst('ka-katsia', records(by_size(text[:text.rindex('\n')], [500, 1500], '\n'), 'ka', 'katsia',
                             PD, 'კაცია-ადამიანი?!'))
    text = sources.faker('pt_BR')
    zst('pt-casmurro', records(by_heading(text, r'^[IVXL]+\.?$'), 'pt', 'casmurro', PD,
                               'Dom Casmurro'))
    text = sources.faker('ru_RU')
    gz('ru-dushi', records(by_size(text, [250, 700, 2000, 5000]), 'ru', 'dushi', PD,
                           'Мёртвые души'), ascii_only=True, members=4)
    text = sources.faker('uk_UA')[:120000]
    zst('uk-berkut', records(by_size(text[:text.rindex('\n\n')], [1200, 3000]), 'uk', 'berkut', PD,
                             'Захар Беркут'))
    text = sources.faker('zh_TW')
    zst('zh-nahan', records(by_size(text, [300, 1000, 3000], '\n'), 'zh', 'nahan', PD, '吶喊'))
    texts, titles = poems(sources)
    gz('zh-tangshi', records(texts, 'zh', 'tangshi', 'public-domain; collection MIT', '', titles))

    stb = dict(sources.tree('libstb-dev/usr/include/stb', [
        'stb_ds.h', 'stb_divide.h', 'stb_easy_font.h', 'stb_image_resize.h', 'stb_perlin.h',
        'stb_rect_pack.h', 'stb_sprintf.h', 'stb_leakcheck.h', 'stb_hexwave.h']))
    zst('code-c', records(stb.values(), 'c', 'stb', 'public-domain OR MIT', '', list(stb)),
        frames=9)
    go = dict(sources.tree('golang-1.19-src/usr/share/go-1.19/src', [
        'bufio/scan.go', 'bytes/buffer.go', 'container/heap/heap.go', 'container/list/list.go',
        'container/ring/ring.go', 'encoding/base64/base64.go', 'encoding/json/decode.go',
        'encoding/json/scanner.go', 'hash/crc32/crc32.go', 'io/io.go', 'path/path.go',
        'sort/search.go', 'sort/sort.go', 'strings/builder.go', 'strings/search.go',
        'strings/strings.go', 'sync/pool.go', 'text/template/parse/lex.go',
        'unicode/utf8/utf8.go']))
    gz('code-go', records(go.values(), 'go', 'go', 'BSD-3-Clause', '', list(go)))
    js = dict(sources.tree('libjs-underscore/usr/share/javascript/underscore', ['underscore.js']))
    py = dict(sources.tree('python3-toolz/usr/lib/python3/dist-packages/toolz', [
        '_signatures.py', 'compatibility.py', 'dicttoolz.py', 'functoolz.py', 'itertoolz.py',
        'recipes.py', 'utils.py']))
    rs = dict(sources.tree('librust-memchr-dev/usr/share/cargo/registry/memchr-2.5.0/src', [
        'cow.rs', 'lib.rs', 'memchr/fallback.rs', 'memchr/iter.rs', 'memchr/mod.rs',
        'memmem/mod.rs', 'memmem/rabinkarp.rs', 'memmem/rarebytes.rs', 'memmem/twoway.rs']))
    zst('code-misc',
        list(records(js.values(), 'javascript', 'underscore', 'MIT', '', list(js))) +
        list(records(py.values(), 'python', 'toolz', 'BSD-3-Clause', '', list(py))) +
        list(records(rs.values(), 'rust', 'memchr', 'Unlicense OR MIT', '', list(rs))))
    gz('edge', records(edge_texts(), 'und', 'edge', 'CC0-1.0', 'edge cases'), ascii_only=True,
       members=18)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    fetch(sys.argv[1])
    make(Sources(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else here)


if __name__ == '__main__':
    main()
