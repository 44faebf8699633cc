#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether links of HTML pages to files beside them lead somewhere; as TAP.

usage: check-links.py FOLDER
"""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found.update(value for key, value in attrs if key in ('href', 'src') and value)


def dead_links(page):
    links = Links()
    with open(page, encoding='utf-8') as f:
        links.feed(f.read())
    for link in sorted(links.found):
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc and parts.path:
            if not os.path.isfile(os.path.join(os.path.dirname(page), unquote(parts.path))):
                yield link


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages = sorted(os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names
                   if name.endswith('.html'))
    dead = ['%s: %s' % (os.path.relpath(page, sys.argv[1]), link) for page in pages for link in dead_links(page)]
    good = bool(pages) and not dead
    print('1..1\n%s 1 links of %d pages' % ('ok' if good else 'not ok', len(pages)))
    for line in dead:
        print('# ' + line)
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
