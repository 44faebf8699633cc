#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Pulls the records of a graph and keeps its state. usage: batches.py GRAPH STATE-FILE

The graph ends in `app-sink name=batches`. SAVE_EVERY in the environment: records between two saves.
"""
import os
import sys

import gi
gi.require_version('Dlp', '1.0')
from gi.repository import Dlp, GLib  # noqa: E402


class Batches:
    """A run, its records, its state in a file."""

    def __init__(self, graph, state_file, save_every):
        self.state_file = state_file
        self.save_every = save_every
        self.taken = self.saved = 0
        self.stopping = False
        self.status = 1
        self.loop = GLib.MainLoop()
        if os.path.exists(state_file):
            with open(state_file, 'rb') as file:
                state = GLib.Bytes.new(file.read())
            self.pipeline = Dlp.Pipeline.new_from_state_bytes(state)
        else:
            self.pipeline = Dlp.Pipeline.new_from_string(graph)
        self.sink = self.pipeline.get_element('batches')
        if not isinstance(self.sink, Dlp.AppSink):
            raise SystemExit('batches.py: the graph has no “app-sink name=batches”')
        self.sink.props.confirm = Dlp.AppSinkConfirm.COMMIT
        self.pipeline.connect('notify::fraction', self.on_progress)

    def run(self):
        self.pipeline.run_async(None, self.on_end)
        self.pull()
        try:
            self.loop.run()
        except KeyboardInterrupt:
            self.stopping = True
            self.save()
            self.pipeline.stop()
            self.loop.run()
            self.status = 75 if self.status else 0
        return self.status

    def pull(self):
        self.sink.pull_async(self.save_every, None, self.on_records)

    def on_records(self, sink, result):
        try:
            batch = sink.pull_finish(result)
        except GLib.Error:
            return  # the run says it too
        if self.stopping:
            return  # given again by the next run
        if batch is None:
            sink.commit()
            return
        text = batch.get_schema().find('text')
        for row in range(batch.get_length()):
            print(batch.dup_string(text, row))
        self.taken += batch.get_length()
        if self.taken - self.saved >= self.save_every:
            self.save()
        self.pull()

    def save(self):
        """First what was made of the records, then the state that says that they are done."""
        sys.stdout.flush()
        self.sink.commit()
        state = self.pipeline.get_state(Dlp.AppSinkState.EXACT, None)
        with open(self.state_file + '.new', 'wb') as file:
            file.write(state.to_bytes().get_data())
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.state_file + '.new', self.state_file)
        self.saved = self.taken

    def on_progress(self, pipeline, _):
        if sys.stderr.isatty():
            print('%3d %%' % max(100 * pipeline.props.fraction, 0), end='\r', file=sys.stderr)

    def on_end(self, pipeline, result):
        try:
            pipeline.run_finish(result)
            self.status = 0
            if os.path.exists(self.state_file):
                os.unlink(self.state_file)
        except GLib.Error as error:
            print('batches.py: ' + error.message, file=sys.stderr)
        self.loop.quit()


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        run = Batches(sys.argv[1], sys.argv[2], int(os.environ.get('SAVE_EVERY', '1000')))
    except GLib.Error as error:
        sys.exit('batches.py: ' + error.message)
    sys.exit(run.run())
