# SPDX-License-Identifier: MIT
"""What the tests of whole runs over HTTP have in common: servers, files, and runs."""
import gzip
import http.server
import os
import random
import re
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap  # noqa: E402,F401

LAUNCH = os.environ['DLPIPE_LAUNCH']
FAULTY_SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'plugins', 'http',
                             'tests', 'faulty-http.py')
# Nothing of whoever runs the tests.
os.environ.update(NETRC='/dev/null', GIO_USE_PROXY_RESOLVER='dummy')
for name in ('http_proxy', 'https_proxy', 'no_proxy', 'SSL_CERT_FILE'):
    os.environ.pop(name, None)


class FaultyServer:
    """plugins/http/tests/faulty-http.py of a folder, until it is left."""

    def __init__(self, root, *args):
        self.process = subprocess.Popen(
            [sys.executable, FAULTY_SERVER, '--root', root, '--max-requests', '1000000', *args],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        # It says where it is once it listens.
        self.port = int(re.fullmatch(r'http://127\.0\.0\.1:(\d+)/\n', self.process.stdout.readline())[1])

    def uri(self, mode, name):
        return 'http://127.0.0.1:%d/%s/%s' % (self.port, mode, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves self.server.data, with ranges; notes what it is asked for."""
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers))
        if self.path in server.redirects:
            self.send_response(302)
            self.send_header('Location', server.redirects[self.path])
            self.send_header('Content-Length', '0')
            self.end_headers()
            return
        data = server.files.get(self.path.split('?')[0], server.data)
        etag = '"%d"' % hash(data)
        asked = self.headers.get('Range')
        start, end = 0, len(data) - 1
        partial = asked is not None and self.headers.get('If-Range', etag) == etag
        if partial:
            match = re.fullmatch(r'bytes=(\d+)-(\d*)', asked)
            start, end = int(match[1]), int(match[2] or end)
        self.send_response(206 if partial else 200)
        self.send_header('ETag', etag)
        if partial:
            self.send_header('Content-Range', 'bytes %d-%d/%d' % (start, end, len(data)))
        self.send_header('Content-Length', str(end - start + 1))
        self.end_headers()
        try:
            for at in range(start, end + 1, 16384):
                self.wfile.write(data[at:min(at + 16384, end + 1)])
                time.sleep(server.pause)
        except OSError:
            self.close_connection = True

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Until close(); with TLS where a certificate is given."""
    daemon_threads = True

    def __init__(self, data=b'', pause=0, certificate=None, handler=Handler):
        super().__init__(('127.0.0.1', 0), handler)
        self.data, self.pause = data, pause
        self.redirects, self.files, self.requests = {}, {}, []
        self.scheme = 'http'
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = 'https'
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def uri(self, path, host='127.0.0.1', user=''):
        return '%s://%s%s:%d/%s' % (self.scheme, user, host, self.server_port, path)

    def values(self, field):
        """Of a header field, of all requests."""
        return [headers.get(field) for _, headers in self.requests]

    def handle_error(self, request, address):
        pass

    def close(self):
        self.shutdown()
        self.server_close()


def launch(graph, *options, timeout=60, **more):
    """What is None is no variable of the environment."""
    env = {key: value for key, value in {**os.environ, **more}.items() if value is not None}
    # Its look for leaks falls over the threads that have used GnuTLS ("Tracer caught signal 11"); that of the tests in C
    # sees the same code without it.
    env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
    return subprocess.run([LAUNCH, *options, graph], capture_output=True, text=True, timeout=timeout, env=env)


def lines(seed, size):
    """About so many bytes of JSON lines, always the same."""
    rand = random.Random(seed)
    out, n = [], 0
    while n < size:
        line = '{"text": "%x"}\n' % rand.getrandbits(800)
        out.append(line)
        n += len(line)
    return ''.join(out).encode()


def warc(seed, size):
    """The same as a WARC file, each record compressed for itself."""
    out = []
    for line in lines(seed, size).splitlines():
        out.append(gzip.compress(b'WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' % (
            len(line), line), mtime=0))
    return b''.join(out)


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, 'wb') as file:
        file.write(data)
    return path


def read(path):
    with open(path, 'rb') as file:
        return file.read()
