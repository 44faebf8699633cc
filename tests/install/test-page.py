#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each block of C in docs/writing-an-element.md is, line by line, in what dlpipe-template writes or in
docs/examples/plugin: both are built and tested elsewhere.

usage: test-page.py DLPIPE-TEMPLATE SOURCE-FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile

PROJECTS = {'add-suffix': '--transform', 'count-lines': '--source', 'line-reader': '--reader',
            'line-sink': '--sink'}


def read_folder(folder):
    texts = []
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name)) as file:
                texts.append(file.read())
    return texts


def main():
    template, source = sys.argv[1:]
    texts = read_folder(os.path.join(source, 'docs', 'examples', 'plugin'))
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in PROJECTS.items():
            subprocess.run([template, name, kind, '--dir', folder], check=True, stdout=subprocess.PIPE)
        texts += read_folder(folder)
    with open(os.path.join(source, 'docs', 'writing-an-element.md')) as file:
        blocks = re.findall(r'^```c\n(.*?)^```$', file.read(), re.MULTILINE | re.DOTALL)
    failed = 0
    for i, block in enumerate(blocks):
        found = any(block in text for text in texts)
        failed += not found
        print('%s %d %s' % ('ok' if found else 'not ok', i + 1, block.strip().split('\n')[0]))
        if not found:
            print('# ' + block.replace('\n', '\n# '))
    print('1..%d' % len(blocks))
    sys.exit(failed > 0 or len(blocks) < 10)


if __name__ == '__main__':
    main()
