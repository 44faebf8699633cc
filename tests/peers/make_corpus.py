#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Picks documents out of unpacked Debian packages; make-corpus fetches them.

usage: make_corpus.py PACKAGES OUT

PACKAGES has a folder for each package. Writes OUT/NAME.jsonl for each corpus, one {"text": ...} a line. Nothing
depends on the order of folders, the time or the locale.
"""
import gzip
import html
import json
import os
import random
import re
import sys
import tarfile

HANDBOOK = 'debian-handbook/usr/share/doc/debian-handbook/html/'
GAMES = 'usr/share/games/fortunes'
MARKUP = re.compile(r'<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>', re.S | re.I)
BLANK_LINES = re.compile(r'\n[ \t]*\n([ \t]*\n)+')
HTML = r'\.html?$'
SOURCES = re.compile(r'/(kernel|mm|lib|fs|net|block|crypto|tools/perf|scripts|rust)/.*\.(c|h|S|py|rs|pl|sh)$')
MIB = 1 << 20


def read(path):
    opened = gzip.open(path) if path.endswith('.gz') else open(path, 'rb')
    with opened as file:
        return file.read().decode('utf-8', 'replace')


def text_of_html(page):
    text = html.unescape(MARKUP.sub('', page)).replace('\r\n', '\n')
    return BLANK_LINES.sub('\n\n', text).strip() + '\n'


def find(packages, folder, pattern, convert=None):
    """The texts of the files below a folder whose path matches."""
    texts = []
    for path, folders, files in os.walk(os.path.join(packages, folder)):
        folders.sort()
        for name in sorted(files):
            file = os.path.join(path, name)
            if os.path.islink(file) or not os.path.isfile(file) or not re.search(pattern, file):
                continue
            text = convert(read(file)) if convert else read(file)
            if len(text) > 400 and '\ufffd' not in text:
                texts.append(text)
    return texts


def find_pages(packages, folder, pattern=HTML):
    return find(packages, folder, pattern, text_of_html)


def find_chapters(packages, languages):
    return [page for language in languages.split() for page in find_pages(packages, HANDBOOK + language)]


def find_sources(packages):
    texts, size = [], 0
    with tarfile.open(os.path.join(packages, 'linux-source-6.1/usr/src/linux-source-6.1.tar.xz')) as archive:
        for member in archive:
            if member.isfile() and SOURCES.search(member.name):
                text = archive.extractfile(member).read().decode('utf-8', 'replace')
                if '\ufffd' not in text:
                    texts.append(text)
                    size += len(text)
                if size > 60 * MIB:
                    break
    return texts


def pick(texts, size):
    random.Random(1).shuffle(texts)
    picked = []
    for text in texts:
        picked.append(text)
        size -= len(text.encode())
        if size <= 0:
            break
    return picked


def make(packages):
    yield 'en', pick(
        find_pages(packages, 'anarchism') + find_pages(packages, HANDBOOK + 'en-US')
        + find_pages(packages, 'installation-guide-amd64', r'/en/.*\.html$')
        + find(packages, 'python3.11-doc', r'\.rst\.txt$')
        + find(packages, 'fortunes/' + GAMES, r'/[a-z0-9-]+$')
        + find(packages, 'fortunes-min/' + GAMES, r'/[a-z0-9-]+$')
        + find(packages, 'perl-doc', r'\.pod$'), 16 * MIB)
    yield 'code', pick(find_sources(packages), 14 * MIB)
    yield 'cjk', pick(
        find_chapters(packages, 'zh-CN zh-TW ja-JP')
        + find_pages(packages, 'libreoffice-help-zh-cn') + find_pages(packages, 'libreoffice-help-ja')
        + find(packages, 'fortunes-zh/' + GAMES, r'/(tang300|song100|chinese)$')
        + find(packages, 'manpages-zh', r'/man[1-8]/.*\.gz$')
        + find(packages, 'manpages-ja', r'/man[1-8]/.*\.gz$'), 8 * MIB)
    yield 'multi', pick(
        find_chapters(packages, 'ru-RU ar-MA fa-IR el-GR ko-KR vi-VN de-DE fr-FR pl-PL tr-TR')
        + find(packages, f'fortunes-ru/{GAMES}/ru', r'/[a-z_0-9.]+(?<!\.dat)(?<!\.u8)$'), 6 * MIB)
    yield 'emoji', find(packages, 'unicode-data/usr/share/unicode/emoji', r'emoji-(test|zwj-sequences|sequences)\.txt$')


def write(path, texts):
    with open(path, 'w', encoding='utf-8', newline='\n') as file:
        for text in texts:
            file.write(json.dumps({'text': text}, ensure_ascii=False) + '\n')


def main():
    packages, out = sys.argv[1:3]
    mix = []
    for name, texts in make(packages):
        write(os.path.join(out, name + '.jsonl'), texts)
        mix += texts
    random.Random(7).shuffle(mix)
    write(os.path.join(out, 'mix.jsonl'), mix)


if __name__ == '__main__':
    main()
