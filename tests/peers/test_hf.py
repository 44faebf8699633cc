#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server that hf:// is tested with, tests/hf/hub_server.py, as the Hub's own client sees it: what both ask
it for, they find alike.

usage: test_hf.py TREE; environment: DLPIPE_PROBE, DLPIPE_PLUGIN_PATH. Prints TAP."""
import os
import sys

TREE = sys.argv.pop(1)
sys.path[:0] = [os.path.join(TREE, 'tests', 'lib'), os.path.join(TREE, 'tests', 'hf')]
for name in list(os.environ):
    if name.startswith('HF_'):
        del os.environ[name]
os.environ['HF_HUB_DISABLE_TELEMETRY'] = '1'

import huggingface_hub  # noqa: E402

import hub_server  # noqa: E402
import probe  # noqa: E402
import tap  # noqa: E402


class Client(probe.Case):
    def setUp(self):
        super().setUp()
        hub = hub_server.Hub()
        hub.page_size = 100
        self.server, other = hub_server.start(hub)
        self.addCleanup(self.server.close)
        self.addCleanup(other.close)
        self.env['HF_ENDPOINT'] = self.server.uri
        dataset = hub.datasets['o/n'] = hub_server.Dataset()
        files = {'d/%03d.jsonl' % i: probe.make_lines(i, 2) for i in range(250)}
        files.update({'a b.txt': b'text', 'd/e/x.bin': b'x'})
        self.commit = dataset.commit(files)
        hub.tokens['hf_secret'] = ['o/n']
        self.api = huggingface_hub.HfApi(endpoint=self.server.uri, token='hf_secret')

    def describe(self, entry):
        return ('hf://datasets/o/n@%s/%s' % (self.commit, entry.path), str(entry.size),
                'sha256=' + entry.lfs.sha256 if entry.lfs else 'git=' + entry.blob_id)

    def files(self, entries):
        return sorted(self.describe(entry) for entry in entries if isinstance(entry, huggingface_hub.hf_api.RepoFile))

    def test_tree(self):
        found = self.files(self.api.list_repo_tree('o/n', repo_type='dataset', recursive=True))
        self.assertEqual(len(found), 252)
        self.assertEqual([tuple(line) for line in self.list('hf://datasets/o/n/**')], found)
        found = self.files(self.api.list_repo_tree('o/n', 'd', repo_type='dataset'))
        self.assertEqual([tuple(line) for line in self.list('hf://datasets/o/n/d')], found)

    def test_paths(self):
        found = self.files(self.api.get_paths_info('o/n', ['a b.txt'], repo_type='dataset', revision=self.commit))
        self.assertEqual([tuple(line) for line in self.list('hf://datasets/o/n/a b.txt')], found)

    def test_commit(self):
        self.assertEqual(self.api.dataset_info('o/n', revision='main', expand=['sha']).sha, self.commit)

    def test_refusals(self):
        with self.assertRaises(huggingface_hub.errors.RepositoryNotFoundError):
            self.api.dataset_info('o/none', revision='main', expand=['sha'])
        with self.assertRaises(huggingface_hub.errors.RevisionNotFoundError):
            self.api.dataset_info('o/n', revision='none', expand=['sha'])
        self.assert_refused('hf://datasets/o/none/*', 'no dataset at')
        self.assert_refused('hf://datasets/o/n@none/*', 'no such branch')


if __name__ == '__main__':
    tap.main()
