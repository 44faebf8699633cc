#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The API as Python sees it, without overrides: values, pipelines, elements written in Python."""
import ctypes
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import weakref

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402

try:
    import gi
    gi.require_version('Dlp', '1.0')
    gi.require_version('DlpTokenizer', '1.0')
    from gi.repository import Dlp, DlpTokenizer, Gio, GLib, GObject
except (ImportError, ValueError) as why:
    print('1..0 # SKIP %s' % why)
    sys.exit(0)

SCALE = float(os.environ.get('DLPIPE_TEST_SCALE', '1'))
TEXT = Dlp.Schema.new(Dlp.SchemaKind.RECORDS, ['text'], [Dlp.FieldType.STRING], None)


def internal(message):
    return GLib.Error.new_literal(Dlp.PipelineError.quark(), message, Dlp.PipelineError.INTERNAL)


class Numbers(Dlp.Source):
    """The numbers below `count` as texts; its state is the next one."""
    __gtype_name__ = 'TestNumbers'
    count = GObject.Property(type=GObject.TYPE_INT64, default=0)
    pause = GObject.Property(type=float, default=0.0)
    fault = GObject.Property(type=str, default='')

    def __init__(self):
        super().__init__()
        self.next = 0

    def do_negotiate(self):
        if self.fault == 'negotiate-plain':
            raise ValueError('no')
        if self.fault == 'negotiate':
            raise internal('I cannot negotiate')
        self.get_output(0).set_schema(TEXT)
        return True

    def do_start(self, cancellable):
        if self.fault == 'start-plain':
            raise ValueError('no')
        if self.fault == 'start':
            raise internal('I cannot start')
        return True

    def do_produce(self, out, cancellable):
        if self.fault == 'produce' and self.next >= 5:
            raise internal('I cannot count beyond five')
        if self.fault == 'produce-plain' and self.next >= 5:
            raise ValueError('beyond five')
        if self.next >= self.count:
            return Dlp.Step.END
        if self.pause:
            time.sleep(self.pause)
        builder = out.get_builder()
        coordinate = Dlp.Coordinate()
        coordinate.row = self.next
        spoil(self.fault, builder, self.next)
        if not (self.fault == 'forget' and self.next == 5):
            builder.append_string(0, 'number %d' % self.next)
        out.end_record(coordinate)
        self.next += 1
        return Dlp.Step.MORE

    def do_save(self):
        return Dlp.State.new(self.next.to_bytes(8, 'little'))

    def do_describe(self, state):
        if self.fault == 'describe':
            raise ValueError('not to be described')
        return GLib.Variant('a{sv}', {
            'next': GLib.Variant('t', int.from_bytes(state.get_data().get_data(), 'little'))})

    def do_load(self, described, version):
        Dlp.State.check_keys(described, ['next'])
        self.next = Dlp.State.get_uint64(described, 'next', GLib.MAXINT64)[1]
        return True


def spoil(fault, builder, number):
    """What an author may do wrong, with the record of this number."""
    if number == 5 and fault == 'twice':
        builder.append_string(0, 'once')
    if number == 5 and fault == 'type':
        builder.append_int64(0, 5)


class Twice(Dlp.Element):
    """Each record twice, by a step() of its own."""
    __gtype_name__ = 'TestTwice'
    fault = GObject.Property(type=str, default='')

    def __init__(self):
        super().__init__()
        self.add_pad('in', Dlp.PadDirection.INPUT)
        self.add_pad('out', Dlp.PadDirection.OUTPUT)

    def do_negotiate(self):
        self.get_output(0).set_schema(self.get_input(0).get_schema())
        return True

    def do_step(self, cancellable):
        pad, out = self.get_input(0), self.get_output(0)
        if self.fault == 'step':
            raise internal('I cannot step')
        if self.fault == 'step-plain':
            raise KeyError('no such step')
        batch, row = pad.peek()
        if batch is None:
            return Dlp.Step.END if pad.is_over() else self.want_input(0)
        out.append_rows(batch, row, 1)
        out.append_rows(batch, row, 1)
        pad.consume(1)
        return Dlp.Step.MORE


class Upper(Dlp.Transform):
    """Texts in capitals; those with a 7 are left out, and counted."""
    __gtype_name__ = 'TestUpper'
    fault = GObject.Property(type=str, default='')

    def do_process(self, worker, batch, first, output):
        if self.fault == 'process':
            raise internal('I cannot process')
        if self.fault == 'process-plain':
            raise ValueError('what is this')
        if self.fault == 'process-later' and first + batch.get_length() > 40:
            raise internal('I cannot process from 40 on')
        builder = output.get_builder(0)
        for row in range(batch.get_length()):
            text = batch.dup_string(0, row)
            if '7' in text:
                output.count(0, 1)
                continue
            spoil(self.fault, builder, first + row)
            if not (self.fault == 'forget' and first + row == 5):
                builder.append_string(0, text.upper())
            output.end_record(0, batch.get_coordinate(row))
        self.kept = (output, builder)
        return True


Upper.set_description('Capitals', 'test-numbers count=3 ! test-upper ! null-sink')
Upper.set_flags(Dlp.ElementFlags.STATELESS)
Upper.set_counters(['with-seven'])


class Collect(Dlp.Sink):
    """Keeps the texts."""
    __gtype_name__ = 'TestCollect'
    fault = GObject.Property(type=str, default='')

    def __init__(self):
        super().__init__()
        self.texts = []

    def do_consume(self, batch, row, n, cancellable):
        if self.fault == 'consume':
            raise internal('I cannot consume')
        if self.fault == 'consume-plain':
            raise ValueError('not edible')
        self.texts += [batch.dup_string(0, i) for i in range(row, row + n)]
        return True

    def do_drain(self, cancellable):
        if self.fault == 'drain':
            raise internal('I cannot drain')
        return True


for name, kind in (('test-numbers', Numbers), ('test-twice', Twice), ('test-upper', Upper),
                   ('test-collect', Collect)):
    Dlp.registry_add_element(name, kind)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='dlpipe-python-')
        signal.alarm(60)  # a wedge is a failure

    def tearDown(self):
        signal.alarm(0)
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def fails(self, graph):
        pipeline = Dlp.Pipeline.new_from_string(graph)
        with self.assertRaises(GLib.Error) as caught:
            pipeline.run(None)
        self.assertEqual(pipeline.get_status(), Dlp.PipelineStatus.FAILED)
        return caught.exception


class Values(Case):
    def test_everything_loads(self):
        for module in (Dlp, DlpTokenizer):
            for item in dir(module):
                getattr(module, item)

    def test_version(self):
        text, major, minor, micro = Dlp.get_version()
        self.assertEqual(text, '%d.%d.%d' % (major, minor, micro))
        self.assertTrue(Dlp.check_version(0, 1, 0))
        self.assertTrue(Dlp.check_version(major, minor, micro))
        self.assertFalse(Dlp.check_version(major, minor, micro + 1))
        self.assertFalse(Dlp.check_version(major + 1, 0, 0))

    def test_record_batch(self):
        types = [Dlp.FieldType.STRING, Dlp.FieldType.BINARY, Dlp.FieldType.BOOLEAN,
                 Dlp.FieldType.INT64, Dlp.FieldType.UINT64, Dlp.FieldType.DOUBLE,
                 Dlp.FieldType.LIST_UINT16, Dlp.FieldType.LIST_UINT32, Dlp.FieldType.LIST_INT32]
        names = ['s', 'z', 'b', 'l', 'u', 'd', 'w', 'x', 'y']
        schema = Dlp.Schema.new(Dlp.SchemaKind.RECORDS, names, types, [True] * len(types))
        builder = Dlp.RecordBatchBuilder.new(schema)
        coordinate = Dlp.Coordinate()
        coordinate.file, coordinate.row = 3, 17
        builder.append_string(0, 'aé')
        builder.append_value(1, b'\x00\xff')
        builder.append_boolean(2, True)
        builder.append_int64(3, -2**63)
        builder.append_uint64(4, 2**64 - 1)
        builder.append_double(5, 0.1)
        self.assertTrue(builder.append_list(6, [0, 65535]))
        self.assertTrue(builder.append_list(7, [70000, 1, 2]))
        self.assertTrue(builder.append_list(8, [2**31 - 1, 0]))
        builder.end_record(coordinate)
        for field in range(len(types)):
            builder.append_null(field)
        builder.end_record(coordinate)
        batch = builder.finish()

        self.assertEqual(batch.get_length(), 2)
        self.assertEqual(batch.dup_string(0, 0), 'aé')
        self.assertEqual(bytes(batch.get_value(1, 0)), b'\x00\xff')
        self.assertEqual(batch.dup_bytes(1, 0).get_data(), b'\x00\xff')
        self.assertTrue(batch.get_boolean(2, 0))
        self.assertEqual(batch.get_int64(3, 0), -2**63)
        self.assertEqual(batch.get_uint64(4, 0), 2**64 - 1)
        self.assertEqual(batch.get_double(5, 0), 0.1)
        self.assertEqual(list(batch.get_list(6, 0)), [0, 65535])
        self.assertEqual(list(batch.get_list(7, 0)), [70000, 1, 2])
        self.assertEqual(list(batch.get_list(8, 0)), [2**31 - 1, 0])
        self.assertEqual(batch.dup_bytes(6, 0).get_data(), b'\x00\x00\xff\xff')
        self.assertEqual(batch.get_coordinate(0).row, 17)
        self.assertEqual(batch.get_coordinate(1).file, 3)
        self.assertTrue(all(batch.is_null(field, 1) for field in range(len(types))))
        self.assertIsNone(batch.dup_string(0, 1))
        self.assertIsNone(batch.dup_bytes(1, 1))
        self.assertIsNone(batch.dup_bytes(7, 1))

        again = Dlp.RecordBatchBuilder.new(schema)
        for row in (1, 0):
            for field in range(len(types)):
                again.append_field(field, batch, field, row)
            again.end_record(batch.get_coordinate(row))
        other = again.finish()
        self.assertEqual(list(other.get_list(7, 1)), [70000, 1, 2])
        self.assertEqual(other.get_uint64(4, 1), 2**64 - 1)
        self.assertTrue(other.get_boolean(2, 1))
        self.assertTrue(other.is_null(3, 0))

    def test_list_range(self):
        schema = Dlp.Schema.new(Dlp.SchemaKind.RECORDS, ['w'], [Dlp.FieldType.LIST_UINT16], None)
        builder = Dlp.RecordBatchBuilder.new(schema)
        with self.assertRaises(GLib.Error) as caught:
            builder.append_list(0, [1, 65536])
        self.assertTrue(caught.exception.matches(Dlp.DataError.quark(), Dlp.DataError.RANGE))
        self.assertIn('65536', caught.exception.message)
        builder.append_list(0, [2])
        builder.end_record(Dlp.Coordinate())
        self.assertEqual(list(builder.finish().get_list(0, 0)), [2])

        schema = Dlp.Schema.new(Dlp.SchemaKind.RECORDS, ['y'], [Dlp.FieldType.LIST_INT32], None)
        builder = Dlp.RecordBatchBuilder.new(schema)
        with self.assertRaises(GLib.Error) as caught:
            builder.append_list(0, [1, 2**31])
        self.assertTrue(caught.exception.matches(Dlp.DataError.quark(), Dlp.DataError.RANGE))

    def test_faults(self):
        builder = Dlp.RecordBatchBuilder.new(TEXT)
        for append, message in (
                (lambda: None, 'field “text” was given no value'),
                (lambda: (builder.append_string(0, 'a'), builder.append_string(0, 'b')),
                 'field “text” was given a second value'),
                (lambda: builder.append_int64(0, 1), 'type string and was given an int64'),
                (lambda: builder.append_string(1, 'a'), 'field 1, but has 1 fields'),
                (lambda: builder.append_null(0), 'is not optional and was given null')):
            builder.append_string(0, 'good')
            self.assertTrue(builder.end_record(Dlp.Coordinate()))
            append()
            self.assertFalse(builder.end_record(Dlp.Coordinate()))
            with self.assertRaises(GLib.Error) as caught:
                builder.finish()
            self.assertTrue(caught.exception.matches(Dlp.PipelineError.quark(),
                                                     Dlp.PipelineError.INTERNAL))
            self.assertIn('record 1 of the record batch', caught.exception.message)
            self.assertIn(message, caught.exception.message)
        self.assertEqual(builder.finish().get_length(), 0)

    def test_bytes_outlive_the_batch(self):
        builder = Dlp.RecordBatchBuilder.new(TEXT)
        builder.append_string(0, 'x' * 1000)
        builder.end_record(Dlp.Coordinate())
        batch = builder.finish()
        value = batch.dup_bytes(0, 0)
        schema = batch.get_schema()
        del batch, builder
        gc.collect()
        self.assertEqual(value.get_data(), b'x' * 1000)
        self.assertEqual(schema.get_field_name(0), 'text')

    def test_arrow(self):
        builder = Dlp.RecordBatchBuilder.new(TEXT)
        builder.append_string(0, 'arrow')
        builder.end_record(Dlp.Coordinate())
        batch = builder.finish()
        schema = ctypes.create_string_buffer(72)
        array = ctypes.create_string_buffer(80)
        TEXT.export(ctypes.addressof(schema))
        batch.export(ctypes.addressof(array))
        read = Dlp.Schema.import_(ctypes.addressof(schema), Dlp.SchemaKind.RECORDS)
        self.assertTrue(read.equal(TEXT))
        back = Dlp.RecordBatch.import_(read, ctypes.addressof(array), None)
        self.assertEqual(back.dup_string(0, 0), 'arrow')

    def test_digest_random_state(self):
        builder = Dlp.RecordBatchBuilder.new(TEXT)
        for text in ('a', 'b'):
            builder.append_string(0, text)
            builder.end_record(Dlp.Coordinate())
        batch = builder.finish()
        whole, parts = Dlp.Digest.new(), Dlp.Digest.new()
        whole.add(batch, 0, 2, 0)
        parts.add(batch, 0, 1, 0)
        rest = Dlp.Digest.new()
        rest.add(batch, 1, 1, 1)
        parts.combine(rest)
        self.assertEqual(whole.to_string(), parts.to_string())
        self.assertNotEqual(whole.to_string(), Dlp.Digest.new().to_string())
        random = Dlp.Random.new(1, 2, 'order', 3)
        self.assertEqual(random.draw(5) >> 11, int(random.draw_double(5) * 2**53))
        self.assertEqual(Dlp.State.new(b'abc').get_data().get_data(), b'abc')

    def test_files(self):
        file = Dlp.OutputFile.create(self.path('out.bin'), 'ab' * 16, 1)
        self.assertTrue(file.write(b'hello'))
        self.assertTrue(file.flush())
        self.assertTrue(file.sync())
        self.assertEqual(file.get_length(), 5)
        del file
        self.assertTrue(Dlp.OutputFile.publish(self.path('out.bin'), 'ab' * 16, 1, 5))
        with open(self.path('out.bin'), 'rb') as read:
            self.assertEqual(read.read(), b'hello')
        hash = Dlp.FileHash.new()
        hash.update(b'hello')
        self.assertEqual(Dlp.FileHash.read(self.path('out.bin'), 5, None), (True, hash.get()))
        scheme = Dlp.Scheme.for_uri(self.path('out.bin'))
        found = scheme.list(self.path('out.*'), None)
        self.assertEqual([f.get_size() for f in found], [5])
        stream = Dlp.ByteStream.open(found[0], 1, 27, 0, None)
        self.assertEqual(stream.read_bytes(100, None).get_data(), b'ello')
        self.assertEqual(stream.read_bytes(100, None).get_size(), 0)

    def test_json(self):
        value = Dlp.json_parse(b'{"a": [1, "x", null]}')
        self.assertEqual(json.loads(Dlp.json_print(value, False)), {'a': [1, 'x', None]})
        with self.assertRaises(GLib.Error) as caught:
            Dlp.json_parse(b'{')
        self.assertTrue(caught.exception.matches(Dlp.JsonError.quark(), Dlp.JsonError.SYNTAX))

    def test_tokenizer(self):
        tokenizer = DlpTokenizer.Tokenizer.new('gpt2', None)
        ids = tokenizer.encode_text('hello world', -1, DlpTokenizer.TokenizerFlags.NONE)
        self.assertEqual(list(ids), [31373, 995])
        self.assertEqual(tokenizer.get_eod(), (True, 50256))
        self.assertEqual(bytes(tokenizer.get_token(995)), b' world')
        out = GLib.String.new('')
        tokenizer.decode(ids, out)
        self.assertEqual(out.str, 'hello world')
        with self.assertRaises(GLib.Error):
            DlpTokenizer.Tokenizer.new('no such model', None)


class Elements(Case):
    GRAPH = 'test-numbers count=%d ! test-twice ! test-upper name=u ! test-collect name=c'

    def test_graph(self):
        n = max(int(3000 * SCALE), 200)
        pipeline = Dlp.Pipeline.new_from_string(self.GRAPH % n)
        self.assertTrue(pipeline.run(None))
        self.assertEqual([e.get_name() for e in pipeline],
                         ['test-numbers0', 'test-twice0', 'u', 'c'])
        expected = [t for i in range(n) for t in ['NUMBER %d' % i] * 2 if '7' not in t]
        self.assertEqual(pipeline.get_element('c').texts, expected)
        report = json.loads(pipeline.get_report_json())
        upper = [e for e in report['elements'] if e['name'] == 'u'][0]
        self.assertEqual(upper['state']['with-seven'], 2 * n - len(expected))
        self.assertEqual(pipeline.get_element('c').get_n_records(), len(expected))
        self.assertNotEqual(pipeline.get_element('c').get_digest().to_string(),
                            Dlp.Digest.new().to_string())

    def test_faults_of_records(self):
        for element in ('test-numbers', 'test-upper'):
            for fault, message in (('forget', 'field “text” was given no value'),
                                   ('twice', 'field “text” was given a second value'),
                                   ('type', 'of type string and was given an int64')):
                graph = (self.GRAPH % 20).replace(element, element + ' fault=' + fault)
                graph = graph.replace('test-twice ! ', '')
                pipeline = Dlp.Pipeline.new_from_string(graph)
                with self.assertRaises(GLib.Error) as caught:
                    pipeline.run(None)
                self.assertTrue(caught.exception.matches(Dlp.PipelineError.quark(),
                                                         Dlp.PipelineError.INTERNAL))
                self.assertIn('record 5 of pad out', caught.exception.message)
                self.assertIn(message, caught.exception.message)
                self.assertEqual(pipeline.get_element('c').texts,
                                 ['NUMBER %d' % i for i in range(5)])

    def test_batches(self):
        pipeline = Dlp.Pipeline.new_from_string(
            'test-numbers count=20 ! batch size=3 rank=1 world-size=2 ! app-sink name=out')
        pipeline.run_async(None, None)
        out = pipeline.get_element('out')
        got = []
        while True:
            batch = out.pull(1, None)
            if batch is None:
                break
            info = batch.get_batch_info()
            self.assertEqual((info.index, info.n_batches), (batch.get_index(), 2))
            got.append((batch.get_index(), batch.get_stage(), batch.get_epoch(),
                        batch.get_length(), info.records))
        self.assertEqual(got, [(1, 0, 0, 3, 6), (3, 0, 0, 3, 6), (5, 0, 0, 3, 6)])

    def test_stages(self):
        pipeline = Dlp.Pipeline.new_from_string(
            'test-numbers count=5 ! s.  test-numbers count=3 ! s.  stages name=s ! app-sink name=out')
        stages = pipeline.get_element('s')
        self.assertIsInstance(stages, Dlp.Stages)
        with self.assertRaises(GLib.Error):
            stages.advance()
        pipeline.prepare(None)
        self.assertEqual(stages.advance(), (True, 0))
        self.assertTrue(stages.advance_at(2))
        self.assertEqual(stages.get_stage(), 0)
        pipeline.run_async(None, None)
        out, n = pipeline.get_element('out'), 0
        while (batch := out.pull(10, None)) is not None:
            n += batch.get_length()
        self.assertEqual(n, 2)

    def test_what_is_kept_too_long_does_nothing(self):
        pipeline = Dlp.Pipeline.new_from_string(self.GRAPH % 10)
        pipeline.run(None)
        output, builder = pipeline.get_element('u').kept
        code = 'output.get_builder(0)'
        del pipeline
        gc.collect()
        old = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_ERROR)
        self.assertIsNone(eval(code))
        GLib.log_set_always_fatal(old)

    def test_stop_and_resume(self):
        n = 400
        graph = ('test-numbers count=%d pause=0.002 ! test-upper ! jsonl-sink location=%s'
                 % (n, self.path('out.jsonl')))
        state = self.path('state')
        runs = 0
        while True:
            runs += 1
            pipeline = Dlp.Pipeline.new_from_string(graph)
            pipeline.props.state_dir = state
            pipeline.props.batch_records = 4
            loop = GLib.MainLoop()
            ended = []

            def over(source, result):
                try:
                    ended.append(source.run_finish(result))
                except GLib.Error as error:
                    ended.append(error)
                loop.quit()

            pipeline.run_async(None, over)
            GLib.timeout_add(250, lambda: pipeline.stop() or GLib.SOURCE_REMOVE)
            loop.run()
            if ended[0] is True:
                break
            self.assertTrue(ended[0].matches(Dlp.PipelineError.quark(),
                                             Dlp.PipelineError.STOPPED), ended[0])
            self.assertLess(runs, 50)
        self.assertGreater(runs, 2)
        with open(self.path('out.jsonl')) as read:
            texts = [json.loads(line)['text'] for line in read]
        self.assertEqual(texts, ['NUMBER %d' % i for i in range(n) if '7' not in str(i)])

    def test_an_error_is_the_pipeline_s(self):
        for element, fault, message in (
                ('numbers', 'negotiate', 'I cannot negotiate'),
                ('numbers', 'start', 'I cannot start'),
                ('numbers', 'produce', 'I cannot count beyond five'),
                ('twice', 'step', 'I cannot step'),
                ('upper', 'process', 'I cannot process'),
                ('upper', 'process-later', 'I cannot process from 40 on'),
                ('collect', 'consume', 'I cannot consume'),
                ('collect', 'drain', 'I cannot drain')):
            with self.subTest(fault=fault):
                graph = ('test-numbers count=100 ! test-twice ! test-upper ! test-collect'
                         .replace('test-' + element, 'test-%s fault=%s' % (element, fault)))
                error = self.fails(graph)
                self.assertTrue(error.matches(Dlp.PipelineError.quark(),
                                              Dlp.PipelineError.INTERNAL), error)
                self.assertIn(message, error.message)
                self.assertIn('test-' + element, error.message)

    def test_a_plain_exception_fails_it_too(self):
        hushed = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyGObject prints them
        try:
            for element, fault in (('numbers', 'negotiate-plain'), ('numbers', 'start-plain'),
                                   ('numbers', 'produce-plain'), ('twice', 'step-plain'),
                                   ('upper', 'process-plain'), ('collect', 'consume-plain')):
                with self.subTest(fault=fault):
                    graph = ('test-numbers count=100 ! test-twice ! test-upper ! test-collect'
                             .replace('test-' + element, 'test-%s fault=%s' % (element, fault)))
                    error = self.fails(graph)
                    self.assertTrue(error.matches(Dlp.PipelineError.quark(),
                                                  Dlp.PipelineError.INTERNAL), error)
                    self.assertIn('failed without an error', error.message)
                    self.assertIn('test-' + element, error.message)
            pipeline = Dlp.Pipeline.new_from_string(
                'test-numbers count=100 fault=describe ! jsonl-sink location=%s'
                % self.path('out.jsonl'))
            pipeline.props.state_dir = self.path('state')
            with self.assertRaises(GLib.Error) as caught:
                pipeline.run(None)
            self.assertIn('test-numbers0', caught.exception.message)
        finally:
            os.dup2(hushed, 2)
            os.close(hushed)


class Programs(Case):
    GRAPH = 'test-numbers count=200 ! test-collect name=c'

    def test_a_dropped_pipeline_is_finalized(self):
        gone = []

        def watch(name, pipeline):
            pipeline.weak_ref(lambda: gone.append(name))
            weakref.finalize(pipeline, lambda: None)

        def run_blocking():
            pipeline = Dlp.Pipeline.new_from_string(self.GRAPH)
            watch('ran', pipeline)
            pipeline.run(None)

        def run_async():
            pipeline = Dlp.Pipeline.new_from_string(self.GRAPH)
            watch('ran async', pipeline)
            loop = GLib.MainLoop()
            pipeline.connect('notify::status', lambda *args: None)
            pipeline.run_async(None, lambda *args: loop.quit())
            loop.run()

        def run_and_forget():
            pipeline = Dlp.Pipeline.new_from_string(self.GRAPH)
            watch('forgotten', pipeline)
            pipeline.run_async(None, None)

        watch('never run', Dlp.Pipeline.new_from_string(self.GRAPH))
        run_blocking()
        run_async()
        run_and_forget()
        end = time.monotonic() + 20
        while len(gone) < 4 and time.monotonic() < end:
            GLib.MainContext.default().iteration(False)
            gc.collect()
            time.sleep(0.002)
        self.assertEqual(sorted(gone), ['forgotten', 'never run', 'ran', 'ran async'])

    def test_a_callback_that_raises_wedges_nothing(self):
        pipeline = Dlp.Pipeline.new_from_string(self.GRAPH)
        loop = GLib.MainLoop()
        calls = []

        def raises(*args):
            calls.append(args)
            raise RuntimeError('in a callback')

        hook, sys.excepthook = sys.excepthook, lambda *args: None
        hushed = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            pipeline.connect('notify::status', raises)
            pipeline.connect('items-changed', raises)
            GLib.timeout_add(5000, loop.quit)

            def over(source, result):
                calls.append('over')
                loop.quit()
                raise RuntimeError('in the last callback')

            pipeline.run_async(None, over)
            loop.run()
        finally:
            os.dup2(hushed, 2)
            os.close(hushed)
            sys.excepthook = hook
        self.assertIn('over', calls)
        self.assertGreater(len(calls), 1)
        self.assertEqual(pipeline.get_status(), Dlp.PipelineStatus.FINISHED)
        self.assertEqual(len(pipeline.get_element('c').texts), 200)

    def test_notifies_come_in_the_main_context(self):
        import threading
        pipeline = Dlp.Pipeline.new_from_string(self.GRAPH)
        loop, threads = GLib.MainLoop(), set()
        pipeline.connect('notify', lambda *args: threads.add(threading.get_ident()))
        pipeline.run_async(None, lambda *args: loop.quit())
        loop.run()
        self.assertEqual(threads, {threading.get_ident()})

    def test_asynchronous_twins_of_a_checkpoint(self):
        """As a binding pairs them: X_async() of a class or a value, and its X_finish()."""
        state = self.path('state')
        data = self.path('data.jsonl')
        with open(data, 'w') as write:
            write.write('{"text": "a"}\n' * 3)
        pipeline = Dlp.Pipeline.new_from_string(
            'file-source location=%s ! jsonl-reader ! null-sink' % data)
        pipeline.props.state_dir = state
        self.assertTrue(pipeline.run(None))
        loop = GLib.MainLoop()

        def call(start, finish, *args, cancellable=None):
            """What await would give."""
            got = []

            def over(source, result):
                try:
                    got.append(finish(result))
                except GLib.Error as error:
                    got.append(error)
                loop.quit()

            start(*args, cancellable, over)
            loop.run()
            if isinstance(got[0], GLib.Error):
                raise got[0]
            return got[0]

        kind = Dlp.Checkpoint
        checkpoint, fell_back = call(kind.new_from_folder_async, kind.new_from_folder_finish, state)
        self.assertIsNone(fell_back)
        again = call(kind.new_from_file_async, kind.new_from_file_finish, checkpoint.get_path())
        self.assertEqual(again.to_json(), checkpoint.to_json())
        files = call(checkpoint.list_inputs_async, checkpoint.list_inputs_finish)
        self.assertEqual([file.get_uri() for file in files], [data])
        about = call(kind.describe_folder_async, kind.describe_folder_finish, state)
        before = about.unpack()['generations']
        with self.assertRaises(GLib.Error) as raised:
            call(checkpoint.save_to_folder_async, checkpoint.save_to_folder_finish, state)
        self.assertIn('the run is complete', raised.exception.message)
        about = call(kind.describe_folder_async, kind.describe_folder_finish, state)
        self.assertEqual(about.unpack()['generations'], before)

        with self.assertRaises(GLib.Error) as raised:
            call(kind.new_from_folder_async, kind.new_from_folder_finish, self.path('none'))
        self.assertIn(self.path('none'), raised.exception.message)
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaises(GLib.Error) as raised:
            call(checkpoint.save_to_folder_async, checkpoint.save_to_folder_finish, state,
                 cancellable=cancellable)
        self.assertTrue(raised.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_cancel(self):
        pipeline = Dlp.Pipeline.new_from_string('test-numbers count=100000 pause=0.01 ! null-sink')
        cancellable = Gio.Cancellable()
        GLib.timeout_add(50, lambda: cancellable.cancel() or GLib.SOURCE_REMOVE)
        loop, errors = GLib.MainLoop(), []

        def over(source, result):
            try:
                source.run_finish(result)
            except GLib.Error as error:
                errors.append(error)
            loop.quit()

        pipeline.run_async(cancellable, over)
        loop.run()
        self.assertTrue(errors[0].matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_interrupt(self):
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), '--wait'],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), 'running\n')
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        self.assertEqual(out, 'interrupted\nstopped\n')
        self.assertEqual(child.returncode, 0)


def wait_for_an_interrupt():
    """What a program does that runs until it is done or Ctrl-C is typed."""
    pipeline = Dlp.Pipeline.new_from_string('test-numbers count=100000000 pause=0.01 ! null-sink')
    loop = GLib.MainLoop()

    def over(source, result):
        try:
            source.run_finish(result)
        except GLib.Error as error:
            if error.matches(Dlp.PipelineError.quark(), Dlp.PipelineError.STOPPED):
                print('stopped', flush=True)
        loop.quit()

    pipeline.run_async(None, over)
    GLib.timeout_add(200, lambda: print('running', flush=True))
    try:
        loop.run()
    except KeyboardInterrupt:
        print('interrupted', flush=True)
        pipeline.stop()
        loop.run()


if __name__ == '__main__':
    if '--wait' in sys.argv:
        wait_for_an_interrupt()
    else:
        tap.main()
