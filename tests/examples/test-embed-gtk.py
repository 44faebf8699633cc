#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The GTK example on a display of its own: what its buttons do, by the mouse.

usage: test-embed-gtk.py [--screenshots DIR] [--loop]

--screenshots writes PNG files of the window into DIR. --loop measures instead how long the main loop
is kept from coming round while a million records a second and more pass (see loop-probe.c).
Environment: DLPIPE_EXAMPLE_DIR, DLPIPE_BUILD_DIR, DLPIPE_PLUGIN_PATH; for --loop DLPIPE_PROBE_LIBRARY.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

BUTTONS = {'start': (42, 27), 'pause': (117, 27), 'cancel': (197, 27), 'close': (612, 27)}
SECONDS = 30
n_points = 0


def point(ok, name, detail=''):
    global n_points
    n_points += 1
    print('%s %d %s' % ('ok' if ok else 'not ok', n_points, name), flush=True)
    if not ok and detail:
        print('# ' + detail.replace('\n', '\n# '), flush=True)


def press(program, button, condition):
    """As a person would: once more if nothing happens, since on a busy machine a click may be lost."""
    for _ in range(3):
        program.click(button)
        if wait_for(condition, SECONDS / 3):
            return True
    return False


def skip(why):
    print('1..0 # SKIP ' + why)
    sys.exit(0)


def wait_for(condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def build_example(folder):
    """Out of the tree, by pkg-config alone, as a reader of the example would."""
    source = os.environ['DLPIPE_EXAMPLE_DIR']
    env = dict(os.environ)
    env['PKG_CONFIG_PATH'] = os.path.join(os.environ['DLPIPE_BUILD_DIR'], 'meson-uninstalled')
    for command in (['meson', 'setup', folder, source, '--werror'], ['ninja', '-C', folder]):
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True)
        if done.returncode != 0:
            point(False, 'builds', done.stdout[-3000:])
            print('1..1')
            sys.exit(1)
    return os.path.join(folder, 'dlpipe-window')


class Failure(Exception):
    pass


class Display:
    def __init__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ['Xvfb', '-displayfd', str(write), '-screen', '0', '900x600x24', '-nolisten', 'tcp',
             '-noreset'],
            pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ':' + number.readline().strip()
        wait_for(self.answers)

    def answers(self):
        return subprocess.run(['xdotool', 'getdisplaygeometry'], env=dict(os.environ, DISPLAY=self.name),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def close(self):
        self.server.terminate()
        self.server.wait()


class Program:
    """The example on a display; its standard error is kept."""

    def __init__(self, path, display, graph, **env):
        self.display = display
        self.env = dict(os.environ, DISPLAY=display.name, GDK_BACKEND='x11', GSK_RENDERER='cairo',
                        GTK_A11Y='none', GSETTINGS_BACKEND='memory', NO_AT_BRIDGE='1', **env)
        self.env.pop('WAYLAND_DISPLAY', None)
        self.errors = tempfile.TemporaryFile(mode='w+')
        self.process = subprocess.Popen([path, graph], env=self.env, stdin=subprocess.DEVNULL,
                                        stderr=self.errors)
        self.window = None
        if not wait_for(lambda: self.process.poll() is not None or self.find_window()) \
                or self.window is None:
            self.process.kill()
            self.errors.seek(0)
            raise Failure('no window; status %s: %s' % (self.process.wait(), self.errors.read()))
        time.sleep(1)  # the first frame

    def xdotool(self, *args):
        done = subprocess.run(['xdotool', *args], env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return done.stdout

    def find_window(self):
        found = self.xdotool('search', '--onlyvisible', '--name', '^dlpipe$').split()
        self.window = found[0] if found else None
        return self.window is not None

    def click(self, button):
        x, y = BUTTONS[button]
        self.xdotool('mousemove', '--window', self.window, str(x), str(y))
        time.sleep(0.2)
        self.xdotool('click', '1')
        time.sleep(0.2)

    def cpu(self):
        """Processor time, in seconds."""
        with open('/proc/%d/stat' % self.process.pid) as f:
            fields = f.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def works(self, seconds=1.0):
        """The share of one processor that it takes: of a pipeline that runs, or of a window."""
        before = self.cpu()
        time.sleep(seconds)
        return (self.cpu() - before) / seconds

    def threads(self):
        return len(os.listdir('/proc/%d/task' % self.process.pid))

    def picture(self, name):
        if options.screenshots:
            subprocess.run(['import', '-window', self.window, '-strip',
                            os.path.join(options.screenshots, name + '.png')], env=self.env)

    def close(self):
        """Closes the window; the exit status, and what it said on standard error."""
        self.click('close')
        try:
            status = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = 'it did not end'
        self.errors.seek(0)
        return status, self.errors.read()


def test_buttons(path, display, graph):
    program = Program(path, display, graph)
    point(True, 'window')
    idle_threads = program.threads()
    program.picture('start')

    program.click('start')
    point(wait_for(lambda: program.threads() > idle_threads and program.works() > 0.2),
          'start: the pipeline runs')
    time.sleep(1.5)
    program.picture('running')

    program.click('pause')
    point(wait_for(lambda: program.works() < 0.2), 'pause: it rests')
    program.picture('paused')
    program.click('pause')
    point(wait_for(lambda: program.works() > 0.2), 'resume: it runs again')

    point(press(program, 'cancel', lambda: program.works() < 0.2), 'cancel: it has ended')
    program.picture('cancelled')
    status, errors = program.close()
    point(status == 0 and errors == '', 'ends well, and says nothing', '%s\n%s' % (status, errors))


def test_close(path, display, graph):
    program = Program(path, display, graph)
    program.click('start')
    wait_for(lambda: program.works() > 0.2)
    status, errors = program.close()
    point(status == 0 and errors == '', 'closed while it runs', '%s\n%s' % (status, errors))


def test_error(path, display, folder):
    bad = os.path.join(folder, 'bad.jsonl')
    with open(bad, 'w') as f:
        f.write('{"text": "good"}\n' + '{"text": 1,\n' * 200)
    program = Program(path, display, 'file-source location=%s ! jsonl-reader ! null-sink' % bad)
    program.click('start')
    time.sleep(1)
    program.picture('error')
    status, errors = program.close()
    point(status == 0 and 'CRITICAL' not in errors and 'Gtk' not in errors, 'a graph that fails',
          '%s\n%s' % (status, errors))

    done = subprocess.run([path, 'file-source ! jsonl-reder ! null-sink'], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=dict(os.environ, DISPLAY=display.name))
    point(done.returncode == 2 and 'jsonl-reader' in done.stderr, 'a graph with a mistake', done.stderr)


def measure_loop(path, display, folder, graph):
    start, output = os.path.join(folder, 'start'), os.path.join(folder, 'output')
    program = Program(path, display, graph, LD_PRELOAD=os.environ['DLPIPE_PROBE_LIBRARY'],
                      DLPIPE_PROBE_START=start, DLPIPE_PROBE_OUTPUT=output)
    program.click('start')
    wait_for(lambda: program.works() > 0.2)
    open(start, 'w').close()
    time.sleep(20)
    program.click('cancel')
    wait_for(lambda: program.works() < 0.2)
    status, errors = program.close()
    longest, above, turns, away = map(int, open(output).read().split())
    print('# main loop: longest time between two turns %.1f ms, %d of %d above 16 ms; '
          'kept away by the program for %.1f ms at most' % (longest / 1000, above, turns, away / 1000))
    point(status == 0 and away <= 16000, 'main loop is never kept away for more than 16 ms')


def make_graph(folder):
    """Short records, more than a million a second, for as long as it is wanted."""
    path = os.path.join(folder, 'short.jsonl')
    with open(path, 'w') as f:
        for i in range(200000):
            f.write('{"text": "%d"}\n' % i)
    return 'file-source location=%s epochs=1000000 ! jsonl-reader ! limit records=100000000000 ! null-sink' % path


class Options:
    screenshots = None
    loop = False


def parse_options():
    args = sys.argv[1:]
    while args:
        arg = args.pop(0)
        if arg == '--screenshots':
            Options.screenshots = args.pop(0)
        elif arg == '--loop':
            Options.loop = True
        else:
            sys.exit(__doc__)
    return Options


def main():
    for tool in ('Xvfb', 'xdotool', 'meson'):
        if shutil.which(tool) is None:
            skip('no ' + tool)
    if subprocess.run(['pkg-config', '--exists', 'gtk4']).returncode != 0:
        skip('no GTK 4')
    with tempfile.TemporaryDirectory(prefix='dlpipe-window-') as folder:
        path = build_example(os.path.join(folder, 'build'))
        graph = make_graph(folder)
        display = Display()
        try:
            if options.loop:
                measure_loop(path, display, folder, graph)
            else:
                test_buttons(path, display, graph)
                test_close(path, display, graph)
                test_error(path, display, folder)
        except Failure as failure:
            point(False, 'goes on', str(failure))
        finally:
            display.close()
    print('1..%d' % n_points)


if __name__ == '__main__':
    options = parse_options()
    main()
