#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public interface of the libraries: symbols, headers, what other languages see, the ABI.

DLPIPE_UPDATE_GOLDEN=1 rewrites the stored lists and baselines (see README.md). Environment:
DLPIPE_SOURCE_DIR, DLPIPE_BUILD_DIR; DLPIPE_HEADERS, the installed ones; DLPIPE_LIBRARIES as
NAME=FILE;...; DLPIPE_GIRS, empty without introspection; DLPIPE_ABI, empty where there can be no
comparison, else the compiler that the baselines are of.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import tap  # noqa: E402

SOURCE = os.environ['DLPIPE_SOURCE_DIR']
BUILD = os.environ['DLPIPE_BUILD_DIR']
HEADERS = os.environ['DLPIPE_HEADERS'].split(';')
LIBRARIES = dict(pair.split('=', 1) for pair in os.environ['DLPIPE_LIBRARIES'].split(';'))
GIRS = [gir for gir in os.environ.get('DLPIPE_GIRS', '').split(';') if gir]
COMPILER = os.environ.get('DLPIPE_ABI', '')
UPDATE = os.environ.get('DLPIPE_UPDATE_GOLDEN') == '1'

INCLUDE_DIRS = [os.path.join(SOURCE, 'include'), os.path.join(BUILD, 'include')]
ABIDW = ['abidw', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs',
         '--drop-private-types']
MAKER = 'abi-baseline-of'


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, **options)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def exported(library):
    """The names that a library exports, sorted."""
    done = run('nm', '-D', '--defined-only', library)
    if done.returncode:
        raise AssertionError(done.stdout)
    return sorted(line.split()[-1] for line in done.stdout.splitlines())


def compare_lists(stored, found):
    """What a change of a list comes to, in words; empty where there is none."""
    return (['removed: ' + name for name in sorted(set(stored) - set(found))] +
            ['added: ' + name for name in sorted(set(found) - set(stored))])


def header_options(option, folders):
    return [word for folder in folders for word in (option, folder)]


def dump_abi(library, folders):
    done = subprocess.run(ABIDW + header_options('--headers-dir', folders) + [library],
                          stdout=subprocess.PIPE, check=True)
    # Where the tree lies is no part of it.
    return re.sub(rb"(<abi-instr [^>]*path=')[^']*/", rb'\1', done.stdout)


def compare_abi(baseline, library, folders):
    """What a program built against the baseline would trip over; None where there is nothing."""
    with tempfile.TemporaryDirectory(prefix='dlpipe-abi-') as folder:
        files = [os.path.join(folder, name) for name in ('baseline.abi', 'built.abi')]
        for path, content in zip(files, (baseline, dump_abi(library, folders))):
            with open(path, 'wb') as file:
                file.write(content)
        done = run('abidiff', '--no-added-syms', *files)
    return done.stdout if done.returncode else None


def declarations():
    """The exported functions that the headers declare: name -> (macro, Since)."""
    found = {}
    for path in HEADERS:
        since = None
        text = re.sub(r'^#.*?(?<!\\)$', '', read(path), flags=re.M | re.S)
        for part in re.finditer(r'/\*\*.*?\*/|\b(DLP_AVAILABLE_IN_\w+|DLP_API)\s+'
                                r'(G_DECLARE_\w+ \([^)]*\)|[^;]*)', text, re.S):
            if part.group(0).startswith('/**'):
                version = re.search(r'^\s*\* Since: ([\d.]+)', part.group(0), re.M)
                name = re.match(r'/\*\*\s*\* (\w+)', part.group(0))
                since = (name.group(1), version.group(1)) if name and version else None
                continue
            declared = re.match(r'G_DECLARE_\w+ \(\w+,\s*(\w+)', part.group(2))
            if declared:
                name = declared.group(1) + '_get_type'
            else:
                name = re.search(r'(\w+)\s*\(', part.group(2)).group(1)
            documented = since[1] if since and since[0] == name else None
            found[name] = (part.group(1), documented)
    return found


class Symbols(unittest.TestCase):
    def test_exported_are_the_stored(self):
        for name, library in LIBRARIES.items():
            path = os.path.join(HERE, name + '.symbols')
            found = exported(library)
            if UPDATE:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write('\n'.join(found) + '\n')
            stored = read(path).split()
            self.assertEqual(compare_lists(stored, found), [],
                             '%s exports something else than %s says' % (name, path))

    def test_a_difference_is_found(self):
        self.assertEqual(compare_lists(['dlp_a', 'dlp_b'], ['dlp_b', 'dlp_c']),
                         ['removed: dlp_a', 'added: dlp_c'])

    def test_only_our_names(self):
        for library in LIBRARIES.values():
            self.assertEqual([s for s in exported(library) if not s.startswith('dlp_')], [])

    def test_all_are_declared_and_introspected(self):
        declared = declarations()
        introspected = set()
        for gir in GIRS:
            for node in xml.etree.ElementTree.parse(gir).iter():
                for key, value in node.attrib.items():
                    if key.endswith('}identifier') and node.get('introspectable') != '0':
                        introspected.add(value)
                    if key.endswith('}get-type'):
                        introspected.add(value)
        skipped = {line.split()[0] for line in read(os.path.join(HERE, 'skipped')).splitlines()
                   if line and not line.startswith('#')}
        undeclared, unlisted = [], []
        for name, library in LIBRARIES.items():
            symbols = exported(library)
            undeclared += [symbol for symbol in symbols if symbol not in declared]
            if GIRS and not name.endswith('check-1.0'):
                unlisted += [symbol for symbol in symbols
                             if (symbol in introspected) == (symbol in skipped)]
        self.assertEqual(undeclared, [], 'no installed header declares them')
        self.assertEqual(unlisted, [], 'either another language can use a function, or it is in '
                         'tests/abi/skipped with what there is instead')
        self.assertEqual(sorted(skipped - {s for lib in LIBRARIES.values() for s in exported(lib)}),
                         [], 'tests/abi/skipped lists what there is not')

    def test_each_says_since_when(self):
        for name, (macro, since) in declarations().items():
            self.assertNotEqual(macro, 'DLP_API', '%s: say DLP_AVAILABLE_IN_…' % name)
            if not name.endswith('_get_type') and not name.endswith('_error_quark'):
                self.assertIsNotNone(since, '%s: its comment says nothing of Since' % name)
                self.assertEqual(macro, 'DLP_AVAILABLE_IN_' + since.replace('.', '_'), name)


class Headers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-abi-')
        self.flags = [re.sub('^-I', '-isystem', flag) for flag in
                      run('pkg-config', '--cflags', 'gio-2.0').stdout.split()]
        self.flags += header_options('-I', INCLUDE_DIRS)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def compile(self, compiler, standard, suffix, texts, *flags):
        files = []
        for name, text in texts.items():
            files.append(os.path.join(self.folder, name + suffix))
            with open(files[-1], 'w', encoding='utf-8') as file:
                file.write(text)
        return run(compiler, '-std=' + standard, '-Wall', '-Wextra', '-Werror', '-pedantic',
                   '-fsyntax-only', *self.flags, *flags, *files)

    def test_all_are_installed(self):
        names = {os.path.basename(path) for path in HEADERS}
        there = {name for name in os.listdir(os.path.join(SOURCE, 'include', 'dlpipe'))
                 if name.endswith('.h')}
        self.assertEqual(sorted(there - names), [], 'not in include/dlpipe/meson.build')
        included = set(re.findall(r'dlp-[\w-]+\.h', read(
            os.path.join(SOURCE, 'include', 'dlpipe', 'dlpipe.h'))))
        self.assertEqual(sorted(names - included - {'dlpipe.h', 'dlp-check.h', 'dlp-tokenizer.h'}), [],
                         'not included by dlpipe.h')

    def test_they_include_what_is_installed(self):
        names = {os.path.basename(path) for path in HEADERS}
        for path in HEADERS:
            for name in re.findall(r'#\s*include "([^"]*)"', read(path)):
                self.assertIn(name, names, path)
            for name in re.findall(r'#\s*include <([^>]*)>', read(path)):
                self.assertTrue(name in ('stdint.h', 'glib.h', 'glib-object.h', 'gio/gio.h') or
                                name.startswith('dlpipe/') and name[7:] in names,
                                '%s includes %s' % (path, name))

    def alone(self, suffix, *compilers):
        texts = {os.path.basename(path): '#include <dlpipe/%s>\n' % os.path.basename(path)
                 for path in HEADERS}
        found = [pair for pair in compilers if shutil.which(pair[0])]
        if not found:
            self.skipTest('no compiler')
        for compiler, standard in found:
            done = self.compile(compiler, standard, suffix, texts)
            self.assertEqual(done.returncode, 0, '%s: %s' % (compiler, done.stdout))

    def test_each_alone_as_c(self):
        self.alone('.c', ('gcc', 'c11'))

    def test_each_alone_as_cxx(self):
        self.alone('.cc', ('g++', 'c++17'))

    def test_all_together_by_clang(self):
        if not shutil.which('clang'):
            self.skipTest('clang is missing')
        text = {'all': '#include <dlpipe/dlpipe.h>\n#include <dlpipe/dlp-tokenizer.h>\n'}
        for compiler, standard, suffix in (('clang', 'c11', '.c'), ('clang++', 'c++17', '.cc')):
            done = self.compile(compiler, standard, suffix, text)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_versions_can_be_bounded(self):
        old = '#include <dlpipe/dlpipe.h>\nGType f (void) { return dlp_record_batch_get_type (); }\n'
        new = '#include <dlpipe/dlpipe.h>\nDlpDigest *f (void) { return dlp_digest_new (); }\n'
        compiler = os.environ.get('CC', 'cc').split()[-1]
        bound = '-DDLP_VERSION_MAX_ALLOWED=DLP_VERSION_0_1'
        least = '-DDLP_VERSION_MIN_REQUIRED=DLP_VERSION_0_1'
        for text, flags, expected in ((old, (bound, least), True), (new, (), True),
                                      (new, (bound, least), False), (new, (least,), True)):
            with self.subTest(text=text, flags=flags):
                done = self.compile(compiler, 'c11', '.c', {'bounds': text}, *flags)
                self.assertEqual(done.returncode == 0, expected, done.stdout)
                if not expected:
                    self.assertIn('Not available before 0.2', done.stdout)
        done = self.compile(compiler, 'c11', '.c', {'bounds': old},
                            '-DDLP_VERSION_MIN_REQUIRED=DLP_VERSION_0_2', bound)
        self.assertIn('must not be lower', done.stdout)


class Abi(unittest.TestCase):
    def setUp(self):
        if not shutil.which('abidiff') or not shutil.which('abidw'):
            self.skipTest('abidiff is missing: package abigail-tools')
        if not COMPILER:
            self.skipTest('baselines are of an x86_64 build by gcc with debug information')
        self.folder = tempfile.mkdtemp(prefix='dlpipe-abi-')
        self.addCleanup(shutil.rmtree, self.folder)

    def test_nothing_broke(self):
        maker = os.path.join(HERE, MAKER)
        if UPDATE:
            with open(maker, 'w', encoding='utf-8') as file:
                file.write(COMPILER + '\n')
        if read(maker).strip() != COMPILER:
            self.skipTest('baselines are of %s, this build is of %s' % (read(maker).strip(), COMPILER))
        for name, library in LIBRARIES.items():
            path = os.path.join(HERE, name + '.abi.gz')
            if UPDATE:
                with gzip.GzipFile(path, 'wb', mtime=0) as file:
                    file.write(dump_abi(library, INCLUDE_DIRS))
            with gzip.open(path) as file:
                change = compare_abi(file.read(), library, INCLUDE_DIRS)
            self.assertIsNone(change, '%s: programs built against the baseline may break; where that '
                              'is meant, see tests/abi/README.md\n%s' % (name, change))

    def build(self, name, header, text):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        for file, content in (('toy.h', header), ('toy.c', '#include "toy.h"\n' + text)):
            with open(os.path.join(folder, file), 'w', encoding='utf-8') as out:
                out.write(content)
        library = os.path.join(folder, 'libtoy.so')
        done = run('cc', '-g', '-shared', '-fPIC', '-o', library, os.path.join(folder, 'toy.c'))
        self.assertEqual(done.returncode, 0, done.stdout)
        return library, [folder]

    def test_what_breaks_is_found(self):
        header = ('typedef struct { int a; long b; void *reserved[2]; } Plain;\n'
                  'typedef struct _Opaque Opaque;\n'
                  'int toy_get (Plain *self);\nOpaque *toy_open (void);\n')
        text = ('struct _Opaque { int x; };\nstatic struct _Opaque one;\n'
                'Opaque *toy_open (void) { return &one; }\n'
                'int toy_get (Plain *self) { return self->a; }\n')
        toy, folders = self.build('toy', header, text)
        baseline = dump_abi(toy, folders)
        more = 'int toy_more (void);\n'
        cases = {
            'same': (header, text, None),
            'function-added': (header + more, text + 'int toy_more (void) { return 1; }\n', None),
            'private-changed': (header, text.replace('int x;', 'int x, y;'), None),
            'function-removed': (header.replace('int toy_get (Plain *self);\n', ''),
                                 text.replace('int toy_get', 'static int __attribute__ ((unused)) '
                                              'toy_get'), 'toy_get'),
            'struct-changed': (header.replace('int a;', 'int a, c, d;'), text, 'Plain'),
            'argument-changed': (header.replace('(Plain *self)', '(Plain *self, int n)'),
                                 text.replace('(Plain *self)', '(Plain *self, int n)'), 'toy_get'),
        }
        for name, (new_header, new_text, expected) in cases.items():
            with self.subTest(name=name):
                change = compare_abi(baseline, *self.build(name, new_header, new_text))
                if expected is None:
                    self.assertIsNone(change)
                else:
                    self.assertIsNotNone(change)
                    self.assertIn(expected, change)


if __name__ == '__main__':
    tap.main()
