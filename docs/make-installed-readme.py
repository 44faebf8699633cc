#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md as it is installed: what its links lead to is there, or they are none.

usage: make-installed-readme.py README OUTPUT
"""
import re
import sys

INSTALLED = ('docs/', 'plugins/', 'NEWS', 'LICENSE')


def keep_or_name(match):
    text, target = match.groups()
    if '://' in target or target.startswith(INSTALLED):
        return match.group(0)
    return '%s (in the source)' % text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8') as file:
        text = file.read()
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write(re.sub(r'\[([^]]*)\]\(([^)]*)\)', keep_or_name, text))


if __name__ == '__main__':
    main()
