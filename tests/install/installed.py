# SPDX-License-Identifier: MIT
"""What tests of an installed dlpipe share: the installation, commands, TAP."""
import os
import shutil
import subprocess
import sys

BUILD_DIR = os.environ['DLPIPE_BUILD_DIR']
SOURCE_DIR = os.environ['DLPIPE_SOURCE_DIR']
PREFIX = os.environ['DLPIPE_PREFIX']
LIBDIR = os.environ['DLPIPE_LIBDIR']
n_points = 0
n_failed = 0


def point(ok, name, detail=''):
    global n_points, n_failed
    n_points += 1
    n_failed += not ok
    print('%s %d %s' % ('ok' if ok else 'not ok', n_points, name), flush=True)
    if not ok and detail:
        print('# ' + detail.rstrip().replace('\n', '\n# '), flush=True)
    return ok


def finish():
    print('1..%d' % n_points)
    sys.exit(n_failed > 0)


def run(command, **kwargs):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', **kwargs)


class Installed:
    """dlpipe as `meson install` leaves it, in a folder below the build folder. It was not built for
    that place: so it is also a test that it can be moved."""

    def __init__(self, name):
        self.folder = os.path.join(BUILD_DIR, 'tests', 'install', name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.root = os.path.join(self.folder, 'root')
        self.work = os.path.join(self.folder, 'work')
        os.makedirs(self.work)
        self.log = run(['meson', 'install', '-C', BUILD_DIR, '--no-rebuild', '--destdir', self.root])
        self.prefix = self.root + PREFIX
        self.libdir = os.path.join(self.prefix, LIBDIR)
        self.move_pkg_config()
        self.env = self.make_env()

    def move_pkg_config(self):
        folder = os.path.join(self.libdir, 'pkgconfig')
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            with open(path) as file:
                lines = file.read().split('\n')
            lines = ['prefix=' + self.prefix if line.startswith('prefix=') else line for line in lines]
            with open(path, 'w') as file:
                file.write('\n'.join(lines))

    def make_env(self):
        env = {key: value for key, value in os.environ.items() if not key.startswith('DLPIPE_')}
        for key in ('MESON_TEST_ITERATION', 'G_TEST_SRCDIR', 'G_TEST_BUILDDIR'):
            env.pop(key, None)
        for key in ('DLPIPE_TEST_SCALE', 'DLPIPE_TEST_PATIENCE'):
            if key in os.environ:
                env[key] = os.environ[key]
        env['PKG_CONFIG_PATH'] = os.path.join(self.libdir, 'pkgconfig')
        env['LD_LIBRARY_PATH'] = self.libdir
        env['PATH'] = os.path.join(self.prefix, 'bin') + ':' + env['PATH']
        env['XDG_DATA_HOME'] = os.path.join(self.folder, 'data')
        env['XDG_CACHE_HOME'] = os.path.join(self.folder, 'cache')
        return env

    def run(self, command, cwd=None, **kwargs):
        return run(command, cwd=cwd or self.work, env=self.env, **kwargs)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
