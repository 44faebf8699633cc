#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `meson install` installs, and that it runs from there.

installed.txt lists the files; a line that begins with "?" names one that is there only where a
package for an optional part is. DLPIPE_UPDATE_INSTALLED=1 writes the list anew (and keeps the marks).
"""
import os
import re
import shutil

from installed import Installed, LIBDIR, SOURCE_DIR, finish, point

LIST = os.path.join(SOURCE_DIR, 'tests', 'install', 'installed.txt')
LIBEXECDIR = os.environ['DLPIPE_LIBEXECDIR']
VERSION = os.environ['DLPIPE_VERSION']


def list_files(prefix):
    names = []
    for folder, _, files in os.walk(prefix):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), prefix)
            # Pages and examples are folders of the tree as they are, the reference is what the headers say.
            if re.match('share/doc/dlpipe/(docs|plugins|reference)/', path):
                continue
            # Programs first: LIBEXECDIR may be LIBDIR, which has a folder of that name for plugins, dlp-*.so.
            path = re.sub('^' + re.escape(LIBEXECDIR) + '/dlpipe-1.0/dlpipe-',
                          'LIBEXECDIR/dlpipe-1.0/dlpipe-', path)
            path = re.sub('^' + re.escape(LIBDIR) + '/', 'LIBDIR/', path)
            names.append(path.replace('.so.' + VERSION, '.so.VERSION'))
    return sorted(names)


def read_list():
    with open(LIST) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith('#')]
    return ([line for line in lines if not line.startswith('?')],
            [line[1:].strip() for line in lines if line.startswith('?')])


def write_list(names, optional):
    with open(LIST) as file:
        head = [line for line in file if line.startswith('#')]
    with open(LIST, 'w') as file:
        file.writelines(head)
        for name in sorted(set(names) | set(optional)):
            file.write('%s%s\n' % ('? ' if name in optional else '', name))


def check_list(installed):
    names = list_files(installed.prefix)
    wanted, optional = read_list()
    if os.environ.get('DLPIPE_UPDATE_INSTALLED'):
        write_list(names, optional)
        wanted, optional = read_list()
    missing = sorted(set(wanted) - set(names))
    more = sorted(set(names) - set(wanted) - set(optional))
    point(not missing, 'all of the list is installed', 'missing:\n' + '\n'.join(missing))
    point(not more, 'nothing else is installed', 'not in tests/install/installed.txt:\n' + '\n'.join(more))


def check_pkg_config(installed):
    for name in sorted(os.listdir(os.path.join(installed.libdir, 'pkgconfig'))):
        package = name[:-len('.pc')]
        result = installed.run(['pkg-config', '--print-errors', '--cflags', '--libs', package])
        point(result.returncode == 0 and installed.prefix in result.stdout, 'pkg-config ' + package,
              result.stdout)


def find_dead_links(page):
    with open(page, encoding='utf-8') as file:
        text = file.read()
    for target in re.findall(r'\]\(([^)#]+)(?:#[^)]*)?\)', text):
        if '://' not in target and not os.path.exists(os.path.join(os.path.dirname(page), target)):
            yield target


def check_pages(installed):
    root = os.path.join(installed.prefix, 'share', 'doc', 'dlpipe')
    pages = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
             if name.endswith('.md')]
    dead = ['%s: %s' % (os.path.relpath(page, root), link) for page in sorted(pages)
            for link in find_dead_links(page)]
    point(len(pages) > 20 and not dead, 'links of the pages lead somewhere', '\n'.join(dead))


def check_run(installed):
    data = os.path.join(SOURCE_DIR, 'tests', 'data', 'sample')
    graph = ('file-source location=%s/*.jsonl.* ! jsonl-reader field=text ! shuffle size=1000 '
             '! tokenizer model=cl100k_base ! megatron-sink location=out/sample' % data)
    result = installed.run(['dlpipe-launch', '--progress=none', graph])
    point(result.returncode == 0, 'the installed dlpipe-launch runs the sample', result.stdout)
    result = installed.run(['dlpipe-dataset', 'verify', 'out/sample'])
    point(result.returncode == 0, 'and dlpipe-dataset verifies it', result.stdout)
    # Without the build folder's own libraries.
    result = installed.run(['ldd', shutil.which('dlpipe-launch', path=installed.env['PATH'])])
    lines = [line for line in result.stdout.split('\n') if 'libdlpipe' in line]
    point(lines and all(installed.prefix in line for line in lines), 'by its own libraries', result.stdout)


def main():
    installed = Installed('list')
    point(installed.log.returncode == 0, 'meson install', installed.log.stdout)
    check_list(installed)
    check_pkg_config(installed)
    check_run(installed)
    installed.remove()
    finish()


if __name__ == '__main__':
    main()
