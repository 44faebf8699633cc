#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A fan-out as Python sees it: settings, workers as a list, notifies, errors."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

try:
    import gi
    gi.require_version('Dlp', '1.0')
    from gi.repository import Dlp, Gio, GLib
except (ImportError, ValueError) as why:
    print('1..0 # SKIP %s' % why)
    sys.exit(0)

GRAPH = 'file-source location=%s/in-*.jsonl ! jsonl-reader ! jsonl-sink location=%s/out'
FILES = 6


class Fanout(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='dlpipe-fanout-')
        self.addCleanup(shutil.rmtree, self.dir)
        for i in range(FILES):
            with open('%s/in-%d.jsonl' % (self.dir, i), 'w', encoding='utf-8') as file:
                file.writelines('{"text": "file %d record %d"}\n' % (i, k) for k in range(100 * (i + 1)))

    def make(self, **settings):
        fanout = Dlp.Fanout.new_from_string(GRAPH % (self.dir, self.dir))
        for name, value in settings.items():
            fanout.set_property(name.replace('_', '-'), value)
        return fanout

    def run_async(self, fanout, cancellable=None):
        """The error, or None; the main context is iterated until then."""
        loop = GLib.MainLoop()
        result = []

        def done(source, task):
            try:
                result.append(None if source.run_finish(task) else 'no error')
            except GLib.Error as error:
                result.append(error)
            loop.quit()

        fanout.run_async(cancellable, done)
        loop.run()
        return result[0]

    def test_run(self):
        fanout = self.make(tasks=3, workers=2)
        seen = {'fraction': [], 'tasks-done': []}
        lengths = []
        for name, values in seen.items():
            fanout.connect('notify::' + name, lambda o, p, n, v: v.append(o.get_property(n)), name, values)
        fanout.connect('items-changed', lambda model, at, gone, new: lengths.append(len(model)))
        self.assertIsNone(self.run_async(fanout))
        self.assertEqual(fanout.get_status(), Dlp.PipelineStatus.FINISHED)
        self.assertEqual(lengths, [2])
        self.assertEqual(seen['tasks-done'][-1], 3)
        self.assertEqual(seen['fraction'][-1], 1.0)
        self.assertEqual(seen['fraction'], sorted(seen['fraction']))
        self.assertEqual(fanout.props.records, 100 * sum(range(FILES + 1)))
        self.assertEqual([worker.props.number for worker in fanout], [0, 1])
        self.assertIsInstance(fanout[0], Dlp.FanoutWorker)
        report = fanout.get_report().unpack()
        self.assertEqual(report['files-done'], FILES)
        self.assertEqual([task['status'] for task in report['task-list']], ['done'] * 3)
        self.assertEqual(sorted(n for n in os.listdir(self.dir + '/out') if not n.endswith('manifest.json')),
                         ['part-%05d-of-00003' % i for i in range(3)])

    def test_blocking(self):
        fanout = self.make(tasks=2)
        self.assertTrue(fanout.prepare(None))
        self.assertEqual(fanout.props.tasks_total, 2)
        self.assertTrue(fanout.run(None))
        with self.assertRaises(GLib.Error) as caught:
            fanout.run(None)
        self.assertTrue(caught.exception.matches(Dlp.PipelineError.quark(), Dlp.PipelineError.STATE))

    def test_errors(self):
        with self.assertRaises(GLib.Error) as caught:
            Dlp.Fanout.new_from_string('nothing-of-the-sort')
        self.assertTrue(caught.exception.matches(Dlp.GraphError.quark(), Dlp.GraphError.UNKNOWN_ELEMENT))
        error = self.run_async(self.make(tasks=7))
        self.assertTrue(error.matches(Dlp.GraphError.quark(), Dlp.GraphError.VALUE))
        self.assertIn('only 6 files', error.message)

    def test_stop_and_cancel(self):
        fanout = self.make(tasks=3, workers=2)
        self.assertTrue(fanout.prepare(None))
        fanout.stop()
        error = self.run_async(fanout)
        self.assertTrue(error.matches(Dlp.PipelineError.quark(), Dlp.PipelineError.STOPPED))
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        error = self.run_async(self.make(tasks=3, workers=2), cancellable)
        self.assertTrue(error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertIsNone(self.run_async(self.make(tasks=3, workers=2)))

    def test_dropped(self):
        """Nobody holds it but its run."""
        loop = GLib.MainLoop()
        self.make(tasks=2, workers=2).run_async(None, lambda source, task: (source.run_finish(task), loop.quit()))
        loop.run()


if __name__ == '__main__':
    tap.main()
