#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""https, proxies, and who is told a password."""
import base64
import glob
import http.server
import os
import select
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from common import Handler, Server, launch, lines, read, tap, write

CERTIFICATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'http-tls')
CA = os.path.join(CERTIFICATES, 'ca.pem')


def has_proxy_resolver():
    found = subprocess.run(['pkg-config', '--variable=giomoduledir', 'gio-2.0'], capture_output=True, text=True,
                           check=False)
    return any(glob.glob(found.stdout.strip() + '/libgio%s.so' % name) for name in ('libproxy', 'environmentproxy'))


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    """Sends GET on, and joins who says CONNECT with whom they name."""
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.server.requests.append((self.command + ' ' + self.path, self.headers))
        host, port = self.path.split('/')[2].split(':')
        with socket.create_connection((host, int(port)), 20) as upstream:
            path = '/' + self.path.split('/', 3)[3]
            fields = ''.join('%s: %s\r\n' % field for field in self.headers.items() if field[0] != 'Connection')
            upstream.sendall(('GET %s HTTP/1.1\r\n%sConnection: close\r\n\r\n' % (path, fields)).encode())
            while data := upstream.recv(65536):
                self.wfile.write(data)
        self.close_connection = True

    def do_CONNECT(self):
        self.server.requests.append((self.command + ' ' + self.path, self.headers))
        host, port = self.path.split(':')
        with socket.create_connection((host, int(port)), 20) as upstream:
            self.wfile.write(b'HTTP/1.1 200 Connection established\r\n\r\n')
            self.join(upstream)
        self.close_connection = True

    def join(self, upstream):
        other = {self.connection: upstream, upstream: self.connection}
        while True:
            for ready in select.select(list(other), [], [], 20)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                other[ready].sendall(data)

    def log_message(self, *args):
        pass


class Breaking(Server):
    """Closes some connections, counted from 1, before a word is said."""

    def __init__(self, data, closed):
        super().__init__(data)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(os.path.join(CERTIFICATES, 'server.pem'))
        self.scheme, self.closed, self.n = 'https', closed, 0

    def get_request(self):
        connection, address = super().get_request()
        self.n += 1
        if self.n in self.closed:
            connection.close()
            raise OSError
        return self.context.wrap_socket(connection, server_side=True), address


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.data = lines(1, 100000)
        self.n = 0

    def serve(self, certificate=None, handler=Handler):
        server = Server(self.data, 0, os.path.join(CERTIFICATES, certificate + '.pem') if certificate else None, handler)
        self.addCleanup(server.close)
        return server

    def run_graph(self, location, settings='', **env):
        self.n += 1
        out = os.path.join(self.folder.name, '%d.jsonl' % self.n)
        done = launch('file-source location="%s" %s ! jsonl-reader ! jsonl-sink location=%s' % (location, settings, out),
                      '--no-state', '--progress=none', **env)
        return done, read(out) if os.path.exists(out) else None

    def assert_read(self, result):
        done, output = result
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(output.count(b'\n'), self.data.count(b'\n'))
        self.assertEqual(output.replace(b' ', b''), self.data.replace(b' ', b''))

    def assert_refused(self, result, *said):
        done, output = result
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIsNone(output)
        for part in said:
            self.assertIn(part, done.stderr)


class Tls(Base):
    def test_own_authority(self):
        server = self.serve('server')
        for host in ('localhost', '127.0.0.1'):
            self.assert_read(self.run_graph(server.uri('a.jsonl', host), 'https.ca-file=' + CA))
            self.assert_read(self.run_graph(server.uri('a.jsonl', host), 'http.ca-file=' + CA))
            self.assert_read(self.run_graph(server.uri('a.jsonl', host), SSL_CERT_FILE=CA))

    def test_refused(self):
        """At once: it will not be better a second later."""
        for certificate, settings, said in (('server', '', 'is signed by nobody who is trusted'),
                                            ('other-name', 'http.ca-file=' + CA, 'is that of another host'),
                                            ('expired', 'http.ca-file=' + CA, 'has expired')):
            server = self.serve(certificate)
            began = time.monotonic()
            self.assert_refused(self.run_graph(server.uri('a.jsonl', 'localhost'), settings),
                                'https://localhost:%d/a.jsonl' % server.server_port, 'the server\'s certificate ' + said)
            self.assertLess(time.monotonic() - began, 10)
            self.assertEqual(server.requests, [])

    def test_broken_handshake(self):
        """A fault as any other connection that breaks: asked for again."""
        for closed in ({1}, {2, 3}):
            server = Breaking(self.data, closed)
            self.addCleanup(server.close)
            self.assert_read(self.run_graph(server.uri('a.jsonl', 'localhost'), 'http.first-wait=1ms http.ca-file=' + CA))
            self.assertGreater(server.n, max(closed))

    def test_no_file(self):
        missing = os.path.join(self.folder.name, 'none.pem')
        empty = write(self.folder.name, 'empty.pem', b'nothing')
        server = self.serve('server')
        self.assert_refused(self.run_graph(server.uri('a.jsonl'), 'http.ca-file=' + missing), 'ca-file', missing)
        self.assert_refused(self.run_graph(server.uri('a.jsonl'), 'http.ca-file=' + empty), 'certificate')


@unittest.skipUnless(has_proxy_resolver(), 'GIO has no module that finds proxies')
class Proxies(Base):
    def setUp(self):
        super().setUp()
        self.proxy = self.serve(handler=ProxyHandler)
        self.env = {'GIO_USE_PROXY_RESOLVER': None, 'http_proxy': self.proxy.uri(''), 'https_proxy': self.proxy.uri('')}

    def asked(self):
        return {line for line, _ in self.proxy.requests}

    def test_http(self):
        server = self.serve()
        self.assert_read(self.run_graph(server.uri('a.jsonl'), **self.env))
        self.assertEqual(self.asked(), {'GET ' + server.uri('a.jsonl')})
        self.assertEqual(len(self.proxy.requests), len(server.requests))

    def test_https(self):
        """The proxy joins, and sees nothing of it."""
        server = self.serve('server')
        user = 'me:secret0@'
        self.assert_read(self.run_graph(server.uri('a.jsonl?sig=secret1', 'localhost', user), 'http.ca-file=' + CA, **self.env))
        self.assertEqual(self.asked(), {'CONNECT localhost:%d' % server.server_port})
        for _, headers in self.proxy.requests:
            self.assertIsNone(headers.get('Authorization'))
        self.assertEqual(set(server.values('Authorization')), {'Basic bWU6c2VjcmV0MA=='})

    def test_no_proxy(self):
        server = self.serve()
        self.assert_read(self.run_graph(server.uri('a.jsonl', 'localhost'), no_proxy='localhost', **self.env))
        self.assertEqual(self.proxy.requests, [])
        self.assert_read(self.run_graph(server.uri('a.jsonl', '127.0.0.1'), no_proxy='localhost', **self.env))
        self.assertNotEqual(self.proxy.requests, [])

    def test_gone(self):
        """A proxy that is not there is a fault that may pass."""
        server = self.serve()
        done, _ = self.run_graph(server.uri('a.jsonl'), 'http.retries=1 http.first-wait=1ms',
                                 **{**self.env, 'http_proxy': 'http://127.0.0.1:1/'})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('given up after 2 attempts', done.stderr)
        self.assertEqual(server.requests, [])


class Passwords(Base):
    """A password is told to the scheme, host and port that it belongs to, and to nobody else."""

    def check(self, server, location, target, is_told, **env):
        """By @server at /a.jsonl, which leads to @target."""
        server.redirects['/a.jsonl'] = target.uri('b.jsonl', 'localhost' if target is self.by_name else '127.0.0.1')
        for each in (server, target):
            each.requests.clear()
        self.assert_read(self.run_graph(location, 'http.ca-file=' + CA, **env))
        secret = base64.b64encode(b'me:secret0').decode()
        told = [headers for path, headers in target.requests if path == '/b.jsonl']
        self.assertTrue(told)
        for headers in told:
            self.assertEqual(headers.get_all('Authorization'), ['Basic ' + secret] if is_told else None)
            self.assertEqual([name for name, value in headers.items() if 'secret0' in value or secret in value],
                             ['Authorization'] if is_told else [])
        for headers in [headers for path, headers in server.requests if path == '/a.jsonl']:
            self.assertEqual(headers.get_all('Authorization'), ['Basic ' + secret])

    def check_all(self, user, **env):
        server, port, tls = self.serve(), self.serve(), self.serve('server')
        self.by_name = None
        location = server.uri('a.jsonl', user=user)
        self.check(server, location, server, True, **env)
        self.check(server, location, port, False, **env)
        self.check(server, location, tls, False, **env)
        self.by_name = server
        self.check(server, location, server, False, **env)

    def test_of_the_address(self):
        self.check_all('me:secret0@')

    def test_of_netrc(self):
        netrc = write(self.folder.name, 'netrc', b'machine 127.0.0.1 login me password secret0\n')
        self.check_all('', NETRC=netrc)

    def test_not_told_by_redirects(self):
        """Nor is what another server writes before its own address told to anybody but that one."""
        server, other = self.serve(), self.serve()
        server.redirects['/a.jsonl'] = other.uri('b.jsonl', user='you:secret2@')
        done, _ = self.run_graph(server.uri('a.jsonl'))
        self.assertNotIn('secret2', done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(server.values('Authorization')) | set(other.values('Authorization')), {None})


if __name__ == '__main__':
    tap.main()
