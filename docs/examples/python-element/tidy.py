#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A transform in Python, and a program that runs a graph with it. usage: tidy.py GRAPH"""
import sys
import unicodedata

import gi
gi.require_version('Dlp', '1.0')
from gi.repository import Dlp, GLib, GObject  # noqa: E402


class Tidy(Dlp.Transform):
    __gtype_name__ = 'PythonTidy'

    min_characters = GObject.Property(type=GObject.TYPE_UINT, default=1, maximum=1 << 30,
                                      nick='', blurb='Texts that are shorter are dropped')

    def do_negotiate(self):
        Dlp.Transform.do_negotiate(self)  # what goes out has the fields of what comes in
        schema = self.get_input(0).get_schema()
        self.text = schema.find('text')
        if self.text < 0 or schema.get_field_type(self.text) != Dlp.FieldType.STRING:
            raise GLib.Error.new_literal(
                Dlp.GraphError.quark(), 'needs a field “text” of type string, but gets %s; a reader '
                'gives one with field=NAME' % schema.to_string(), Dlp.GraphError.TYPE)
        self.others = [i for i in range(schema.get_n_fields()) if i != self.text]
        return True

    def do_process(self, worker, batch, first, output):
        builder = output.get_builder(0)
        for row in range(batch.get_length()):
            text = batch.dup_string(self.text, row)
            if text is not None:
                text = ' '.join(unicodedata.normalize('NFC', text).split())
                if len(text) < self.min_characters:
                    output.count(0, 1)
                    continue
            builder.append_string(self.text, text)
            for field in self.others:
                builder.append_field(field, batch, field, row)
            output.end_record(0, batch.get_coordinate(row))
        return True


# Once, behind the class: what in C is said in class_init.
Tidy.set_description('Normal form, single spaces, no short texts',
                     'file-source location=in.jsonl ! jsonl-reader ! python-tidy ! null-sink')
Tidy.set_flags(Dlp.ElementFlags.STATELESS)
Tidy.set_counters(['too-short'])
Dlp.registry_add_element('python-tidy', Tidy)


def main(graph):
    """Runs to the end, or to Ctrl-C and the last checkpoint. Gives the exit status."""
    status, loop = [1], GLib.MainLoop()

    def over(pipeline, result):
        try:
            pipeline.run_finish(result)
            status[0] = 0
        except GLib.Error as error:
            print('tidy.py: ' + error.message, file=sys.stderr)
            if error.matches(Dlp.PipelineError.quark(), Dlp.PipelineError.STOPPED):
                status[0] = 75
        loop.quit()

    try:
        pipeline = Dlp.Pipeline.new_from_string(graph)
    except GLib.Error as error:
        print('tidy.py: ' + error.message, file=sys.stderr)
        return 2
    pipeline.props.state_dir = pipeline.get_default_state_dir()
    pipeline.run_async(None, over)
    try:
        loop.run()
    except KeyboardInterrupt:
        pipeline.stop()
        loop.run()
    return status[0]


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
