# SPDX-License-Identifier: MIT
"""A server for tests that speaks as much of the Hugging Face Hub as is read from it, and the other one, to which it
redirects for large files."""
import hashlib
import http.server
import json
import re
import threading
import time
import urllib.parse


class Dataset:
    def __init__(self):
        self.commits = {}  # id: {path: bytes}
        self.branches = {}
        self.is_gated = self.is_private = False
        self.lfs = re.compile(r'.*\.(jsonl|bin)$')

    def commit(self, files, branch='main'):
        name = hashlib.sha1(repr((sorted(files.items()), len(self.commits))).encode()).hexdigest()
        self.commits[name] = dict(files)
        self.branches[branch] = name
        return name

    def entry(self, path, data):
        oid = hashlib.sha1(b'blob %d\0' % len(data) + data).hexdigest()
        entry = {'type': 'file', 'oid': oid, 'size': len(data), 'path': path}
        if self.lfs.match(path):
            entry['lfs'] = {'oid': hashlib.sha256(data).hexdigest(), 'size': len(data), 'pointerSize': 133}
        return entry


class Hub:
    def __init__(self):
        self.datasets = {}  # 'owner/name'
        self.tokens = {}  # token: the datasets it may read
        self.page_size = 1000
        self.pause = 0
        self.requests = []  # (server, method, target, Authorization, Range)
        self.faults = []  # what the next requests to the other server meet
        self.link_host = None  # that the header Link names


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    name = 'hub'

    def log_message(self, *args):
        pass

    def note(self):
        self.server.hub.requests.append((self.name, self.command, self.path, self.headers.get('Authorization'),
                                         self.headers.get('Range')))

    def answer(self, status, body=b'', headers=()):
        self.send_response(status)
        for name, value in list(headers) + [('Content-Length', str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, message=''):
        self.answer(status, b'{"error":"x"}', [('X-Error-Code', code), ('X-Error-Message', message)])

    def give_json(self, value, headers=()):
        self.answer(200, json.dumps(value).encode(), [('Content-Type', 'application/json')] + list(headers))

    def send_range(self, data, etag, pause=0, cut=False):
        start, end = 0, len(data) - 1
        match = re.fullmatch(r'bytes=(\d+)-(\d*)', self.headers.get('Range', ''))
        if match and self.headers.get('If-Range', etag) == etag:
            start, end = int(match[1]), min(int(match[2] or end), end)
        self.send_response(206 if match else 200)
        if match:
            self.send_header('Content-Range', 'bytes %d-%d/%d' % (start, end, len(data)))
        self.send_header('ETag', etag)
        self.send_header('Content-Length', str(end - start + 1))
        self.end_headers()
        try:
            for at in range(start, end + 1, 16384):
                self.wfile.write(data[at:min(at + 16384, end + 1)])
                if cut and at - start > (end - start) // 2:
                    self.close_connection = True
                    return
                time.sleep(pause)
        except OSError:
            self.close_connection = True

    # ---- the hub ----

    def find(self, name):
        """The dataset, where the token may read it; None: it was refused."""
        hub = self.server.hub
        dataset = hub.datasets.get(name)
        token = (self.headers.get('Authorization') or '').replace('Bearer ', '')
        if token and token not in hub.tokens:
            return self.refuse(401, '', 'Invalid credentials in Authorization header')
        allowed = name in hub.tokens.get(token, ())
        if dataset is None or (dataset.is_private and not allowed):
            return self.refuse(404 if token else 401, 'RepoNotFound', 'Repository not found')
        return dataset

    def check_gate(self, name, dataset):
        token = (self.headers.get('Authorization') or '').replace('Bearer ', '')
        if dataset.is_gated and name not in self.server.hub.tokens.get(token, ()):
            self.refuse(403 if token else 401, 'GatedRepo', 'Access to dataset %s is restricted.' % name)
            return False
        return True

    def do_GET(self):
        self.note()
        path, _, query = self.path.partition('?')
        query = dict(urllib.parse.parse_qsl(query))
        api = re.fullmatch(r'/api/datasets/([^/]+/[^/]+)/(revision|tree)/([^/]+)(?:/(.*))?', path)
        file = re.fullmatch(r'/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.*)', path)
        if not api and not file:
            return self.refuse(404, '')
        dataset = self.find((api or file)[1])
        if dataset is None:
            return None
        if file:
            return self.resolve(file[1], dataset, file[2], urllib.parse.unquote(file[3]))
        revision = urllib.parse.unquote(api[3])
        commit = dataset.branches.get(revision, revision)
        if commit not in dataset.commits:
            return self.refuse(404, 'RevisionNotFound', 'Invalid rev id: %s' % revision)
        if api[2] == 'revision':
            return self.give_json({'_id': 'x', 'id': api[1], 'sha': commit})
        return self.list_tree(dataset, commit, urllib.parse.unquote(api[4] or ''), query, path)

    def list_tree(self, dataset, commit, folder, query, path):
        hub = self.server.hub
        prefix = folder + '/' if folder else ''
        entries, folders = [], set()
        for name, data in sorted(dataset.commits[commit].items()):
            if not name.startswith(prefix):
                continue
            parts = name[len(prefix):].split('/')
            for i in range(1, len(parts)):
                sub = prefix + '/'.join(parts[:i])
                if sub not in folders and (i == 1 or query.get('recursive') == 'true'):
                    folders.add(sub)
                    entries.append({'type': 'directory', 'oid': '0' * 40, 'size': 0, 'path': sub})
            if len(parts) == 1 or query.get('recursive') == 'true':
                entries.append(dataset.entry(name, data))
        if not entries:
            return self.refuse(404, 'EntryNotFound', 'not found')
        start = int(query.get('cursor', 0))
        headers = []
        if start + hub.page_size < len(entries):
            again = urllib.parse.urlencode(dict(query, cursor=start + hub.page_size))
            headers = [('Link', '<%s%s?%s>; rel="next"' % (
                hub.link_host or 'http://%s' % self.headers['Host'], path, again))]
        self.give_json(entries[start:start + hub.page_size], headers)

    def do_POST(self):
        self.note()
        body = self.rfile.read(int(self.headers['Content-Length']))
        # The Hub's JavaScript client sends JSON, as dlpipe does, its Python client a form.
        if self.headers['Content-Type'] == 'application/json':
            body = json.loads(body)
        else:
            body = urllib.parse.parse_qs(body.decode())
        match = re.fullmatch(r'/api/datasets/([^/]+/[^/]+)/paths-info/([^/]+)', self.path)
        dataset = self.find(match[1])
        if dataset is None:
            return
        files = dataset.commits[match[2]]
        found = []
        for path in body['paths']:
            if path in files:
                found.append(dataset.entry(path, files[path]))
            elif any(name.startswith(path + '/') for name in files):
                found.append({'type': 'directory', 'oid': '0' * 40, 'size': 0, 'path': path})
        self.give_json(found)

    def resolve(self, name, dataset, commit, path):
        if not self.check_gate(name, dataset):
            return
        if commit not in dataset.commits:
            self.refuse(404, 'RevisionNotFound')
        elif path not in dataset.commits[commit]:
            self.refuse(404, 'EntryNotFound', 'Entry not found')
        elif dataset.lfs.match(path):
            self.answer(302, b'Found', [('Location', '%s/lfs/%s/%s/%s?Signature=SECRET-link' % (
                self.server.other.uri, name, commit, urllib.parse.quote(path))), ('X-Repo-Commit', commit)])
        else:
            self.send_range(dataset.commits[commit][path], '"%s"' % commit)


class Other(Handler):
    """Where large files are. What signs a request twice is refused there."""
    name = 'other'

    def do_GET(self):
        self.note()
        hub = self.server.hub
        match = re.fullmatch(r'/lfs/([^/]+/[^/]+)/([^/]+)/(.*)\?Signature=SECRET-link', self.path)
        if self.headers.get('Authorization') or not match:
            return self.answer(400, b'Only one auth mechanism allowed')
        fault = hub.faults.pop(0) if hub.faults else None
        if fault == 'slow-down':
            return self.answer(503)
        data = hub.datasets[match[1]].commits[match[2]][urllib.parse.unquote(match[3])]
        if fault == 'shorter':
            data = data[:-10]
        # Another one each time, as from several caches.
        self.send_range(data, '"%d"' % len(hub.requests), hub.pause, fault == 'cut')


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub, handler):
        super().__init__(('127.0.0.1', 0), handler)
        self.hub = hub
        self.uri = 'http://127.0.0.1:%d' % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass

    def close(self):
        self.shutdown()
        self.server_close()


def start(hub):
    server, other = Server(hub, Handler), Server(hub, Other)
    server.other = other
    return server, other
