#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hf:// against the servers of hub_server.py: listings, cards, tokens, refusals, whole runs."""
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import hub_server  # noqa: E402
import probe  # noqa: E402
import tap  # noqa: E402

CARD = '''---
license: mit
configs:
- config_name: main
  default: true
  data_files:
  - split: train
    path: data/train-*
  - split: test
    path:
    - data/test.jsonl
- config_name: broken
  data_files: none/*.jsonl
---
# A dataset
'''


class HubCase(probe.Case):
    secrets = ('SECRET', 'hf_secret')

    def setUp(self):
        super().setUp()
        self.hub = hub_server.Hub()
        self.server, self.other = hub_server.start(self.hub)
        self.addCleanup(self.server.close)
        self.addCleanup(self.other.close)
        self.env['HF_ENDPOINT'] = self.server.uri + '/'
        self.dataset = self.hub.datasets['o/n'] = hub_server.Dataset()
        self.files = {'README.md': CARD.encode(), '.gitattributes': b'x', 'a b+c.txt': b'text',
                      'data/train-0.jsonl': probe.make_lines(0, 20), 'data/train-1.jsonl': probe.make_lines(1, 20),
                      'data/test.jsonl': probe.make_lines(2, 20), 'data/deep/er/x.jsonl': probe.make_lines(3, 5)}
        self.commit = self.dataset.commit(self.files)

    def paths(self, pattern):
        start = 'hf://datasets/o/n@%s/' % self.commit
        found = []
        for uri, size, identity in self.list(pattern):
            self.assertTrue(uri.startswith(start), uri)
            data = self.files[uri[len(start):]]
            self.assertEqual(int(size), len(data))
            if uri.endswith('.jsonl'):
                self.assertEqual(identity, 'sha256=' + hashlib.sha256(data).hexdigest())
            else:
                self.assertEqual(identity, 'git=' + hashlib.sha1(b'blob %d\0' % len(data) + data).hexdigest())
            found.append(uri[len(start):])
        return found

    def authorizations(self, server):
        return {r[3] for r in self.hub.requests if r[0] == server}


class Listing(HubCase):
    def test_globs(self):
        train = ['data/train-0.jsonl', 'data/train-1.jsonl']
        for pattern, wanted in (
                ('data/train-*', train), ('data/train-[0].jsonl', train[:1]), ('data/test.jsonl', ['data/test.jsonl']),
                ('data', ['data/test.jsonl'] + train), ('data/', ['data/test.jsonl'] + train),
                ('**/*.jsonl', ['data/deep/er/x.jsonl', 'data/test.jsonl'] + train), ('*/deep/**', ['data/deep/er/x.jsonl']),
                ('', ['README.md', 'a b+c.txt']), ('a b+c.txt', ['a b+c.txt']), ('.git*', ['.gitattributes'])):
            self.assertEqual(self.paths('hf://datasets/o/n/' + pattern), wanted, pattern)
        self.assertEqual(self.cat('hf://datasets/o/n/data/train-*'), self.files[train[0]] + self.files[train[1]])
        self.assertEqual(self.cat('hf://datasets/o/n/a b+c.txt', offset=1), b'ext')
        for pattern in ('none*', 'none/*', 'none', 'none/'):
            self.assert_refused('hf://datasets/o/n/' + pattern, 'hf://datasets/o/n', 'no file matches', self.commit)

    def test_2500(self):
        self.files = {'d/%04d.jsonl' % i: b'%d' % i for i in range(2500)}
        self.commit = self.dataset.commit(self.files)
        self.assertEqual(self.paths('hf://datasets/o/n/d/*.jsonl'), sorted(self.files))
        self.assertEqual(len(self.hub.requests), 4)
        # A mirror whose pages name the hub itself.
        self.hub.link_host = 'https://hub.example'
        self.assertEqual(self.paths('hf://datasets/o/n/**/*.jsonl'), sorted(self.files))

    def test_revisions(self):
        old, self.files = self.commit, dict(self.files, new=b'new')
        self.commit = self.dataset.commit(self.files, 'refs/pr/1')
        for revision in ('refs/pr/1', 'refs%2Fpr%2F1', self.commit):
            self.assertEqual(self.paths('hf://datasets/o/n@%s/new' % revision), ['new'])
        self.commit = old
        self.assertEqual(self.paths('hf://datasets/o/n@main/README.md'), ['README.md'])
        self.assert_refused('hf://datasets/o/n@main/new', 'no file matches')
        self.assert_refused('hf://datasets/o/n@none/new', '404', 'no such branch, tag or commit')

    def test_card(self):
        train = ['data/train-0.jsonl', 'data/train-1.jsonl']
        self.assertEqual(self.paths('hf://datasets/o/n?config=main&split=train'), train)
        self.assertEqual(self.paths('hf://datasets/o/n?split=train'), train)
        self.assertEqual(self.paths('hf://datasets/o/n@%s?split=test' % self.commit), ['data/test.jsonl'])
        self.assert_refused('hf://datasets/o/n', 'README.md', 'line 7', 'split= is one of train, test')
        self.assert_refused('hf://datasets/o/n?config=x', 'there are main, broken')
        self.assert_refused('hf://datasets/o/n?config=broken', 'none/*.jsonl', 'no such file')
        del self.files['README.md']
        self.dataset.commit(self.files)
        self.assert_refused('hf://datasets/o/n?split=train', 'no card')

    def test_others(self):
        for uri in ('hf://models/o/n/a', 'hf://o/n/a', 'hf://datasets/squad'):
            self.assert_refused(uri, uri, 'hf://datasets/OWNER/NAME')


class Access(HubCase):
    def test_token(self):
        """From each place, to the hub, and nowhere else."""
        self.hub.tokens = {'hf_secret%d' % i: ['o/n'] for i in range(5)}
        self.dataset.is_private = True
        self.write('.cache/huggingface/token', 'hf_secret4\n')
        places = [{}, {'XDG_CACHE_HOME': self.path('cache')}, {'HF_HOME': self.path('home')},
                  {'HF_TOKEN_PATH': self.path('file')}, {'HF_TOKEN': 'hf_secret0'}]
        self.write('cache/huggingface/token', 'hf_secret3')
        self.write('home/token', ' hf_secret2 ')
        self.write('file', 'hf_secret1')
        for i, place in zip((4, 3, 2, 1, 0), places):
            self.env.update(place)
            self.hub.requests.clear()
            self.assertEqual(self.cat('hf://datasets/o/n/data/test.jsonl'), self.files['data/test.jsonl'])
            self.assertEqual(self.authorizations('hub'), {'Bearer hf_secret%d' % i})
            self.assertEqual(self.authorizations('other'), {None})

    def test_private(self):
        self.dataset.is_private = True
        self.assert_refused('hf://datasets/o/n/*', '401', 'private', 'HF_TOKEN', '/datasets/o/n')
        self.env['HF_TOKEN'] = 'hf_secret'
        self.assert_refused('hf://datasets/o/n/*', '401', 'the token is not one that may read it')
        self.hub.tokens['hf_secret'] = []
        self.assert_refused('hf://datasets/o/none/*', '404', 'no dataset at')

    def test_gated(self):
        self.dataset.is_gated = True
        self.assert_refused('hf://datasets/o/n/data/test.jsonl', '401', 'gated', 'HF_TOKEN')
        self.env['HF_TOKEN'] = 'hf_secret'
        self.hub.tokens['hf_secret'] = []
        self.assert_refused('hf://datasets/o/n/data/test.jsonl', '403', 'gated', 'the account')
        self.hub.tokens['hf_secret'] = ['o/n']
        self.assertEqual(self.cat('hf://datasets/o/n/data/test.jsonl'), self.files['data/test.jsonl'])

    def test_each_byte(self):
        self.files['small.bin'] = bytes(range(256))
        self.dataset.commit(self.files)
        self.assertEqual(self.sweep('hf://datasets/o/n/small.bin'), 257)

    def test_faults(self):
        self.files['big.bin'] = probe.make_lines(5, 4000)
        self.dataset.commit(self.files)
        for fault in ('slow-down', 'cut'):
            self.hub.requests.clear()
            self.hub.faults = [fault, fault]
            self.assertEqual(self.cat('hf://datasets/o/n/big.bin'), self.files['big.bin'])
            asked = [r for r in self.hub.requests if r[0] == 'other']
            self.assertEqual(len(asked), 3)
            # By a link of its own each time, and where it broke off.
            self.assertEqual(len([r for r in self.hub.requests if 'resolve' in r[2]]), 3)
            if fault == 'cut':
                self.assertGreater(int(asked[2][4][6:-1]), len(self.files['big.bin']) // 2)
        self.hub.faults = ['shorter'] * 1000
        done = self.probe('retry-time=50ms', 'cat', 'hf://datasets/o/n/big.bin')
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'changed', done.stderr)


class Runs(HubCase):
    def setUp(self):
        super().setUp()
        self.files = {'d/%d.jsonl' % i: probe.make_lines(i, 12000) for i in range(2)}
        self.commit = self.dataset.commit(self.files)
        self.hub.tokens['hf_secret'] = ['o/n']
        self.env['HF_TOKEN'] = 'hf_secret'

    def check(self, location):
        """Killed in the middle of a file; the branch moves; what comes out is of the first commit."""
        starts = []
        for after in (0.1, 0.3, 0.6):
            out = 'out-%d.jsonl' % (after * 10)
            self.dataset.branches['main'] = self.commit
            self.hub.pause = 0.01
            self.launch_killed([location], out, after)
            self.dataset.commit(self.moved)
            self.hub.pause = 0
            self.hub.requests.clear()
            done = self.launch([location], out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(out).replace(b'":"', b'": "'), b''.join(
                self.files['d/%d.jsonl' % i] for i in range(2)))
            asked = [r for r in self.hub.requests if r[0] == 'other']
            self.assertTrue(all(self.commit in r[2] for r in asked))
            starts += [int(r[4][6:].split('-')[0]) for r in asked if r[4]]
        self.assertTrue(any(start > 0 for start in starts), starts)
        self.assert_no_secrets()
        # A run that begins anew reads what there is now.
        done = self.launch([location], 'new.jsonl')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(self.files['d/0.jsonl'][:200].split(b'"')[3], self.read('new.jsonl'))

    def test_moved_branch(self):
        self.moved = {'d/%d.jsonl' % i: probe.make_lines(i + 10, 12000) for i in range(2)}
        self.check('hf://datasets/o/n/d/*.jsonl')

    def test_moved_names(self):
        """Others, and more of them."""
        self.moved = {'d/%d.jsonl' % i: probe.make_lines(i + 10, 100) for i in range(3, 9)}
        self.check('hf://datasets/o/n@main/d')

    def test_mixed(self):
        self.write('local.jsonl', probe.make_lines(9, 100), 'wb')
        locations = ['hf://datasets/o/n/d/0.jsonl', self.path('local.jsonl')]
        done = self.launch(locations, 'out.jsonl')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(self.read('out.jsonl').replace(b'":"', b'": "').splitlines()),
                         sorted(self.read('local.jsonl').splitlines() + self.files['d/0.jsonl'].splitlines()))

    def test_cache(self):
        """By the hash that the listing has: answers come from caches with ETags of their own."""
        for name in ('first.jsonl', 'second.jsonl'):
            self.hub.requests.clear()
            command = self.command(['hf://datasets/o/n/d/*.jsonl'], name)
            command[-1] = command[-1].replace(' !', ' hf.cache=kept !', 1)
            done = self.run_program(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(name).replace(b'":"', b'": "'), b''.join(self.files['d/%d.jsonl' % i] for i in range(2)))
        self.assertEqual([r for r in self.hub.requests if r[0] == 'other'], [])
        self.assertEqual(len([n for n in os.listdir(self.path('kept')) if n.endswith('.entry')]), 2)

    def test_list(self):
        """Names in a list; one without a commit is what it is when the list is read."""
        self.write('names.txt', 'hf://datasets/o/n/d/1.jsonl\nhf://datasets/o/n@%s/d/0.jsonl\n' % self.commit)
        command = self.command([], 'out.jsonl')
        command[-1] = command[-1].replace('file-source ', 'file-source list=names.txt order=given ')
        done = self.run_program(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read('out.jsonl').replace(b'":"', b'": "'),
                         self.files['d/1.jsonl'] + self.files['d/0.jsonl'])


if __name__ == '__main__':
    tap.main()
