#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""8 files of 64 MiB at once from loopback: the program given, which reads its arguments, beside curl; and from its
cache on disk, once they are there, beside cat."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SIZE = 64 << 20
N = 8


def serve(client, blob):
    with client:
        while True:
            head = b''
            while b'\r\n\r\n' not in head:
                try:
                    got = client.recv(65536)
                except OSError:
                    return
                if not got:
                    return
                head += got
            one = b'bytes=0-0' in head
            client.sendall(b'HTTP/1.1 %s\r\nETag: "a"\r\n%sContent-Length: %d\r\n\r\n' % (
                b'206 Partial Content' if one else b'200 OK',
                b'Content-Range: bytes 0-0/%d\r\n' % SIZE if one else b'', 1 if one else SIZE))
            try:
                client.sendall(blob[:1] if one else blob)
            except OSError:
                return


def listen():
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    child = os.fork()
    if child == 0:
        blob = memoryview(bytes(SIZE))
        while True:
            threading.Thread(target=serve, args=(server.accept()[0], blob), daemon=True).start()
    return child, server.getsockname()[1]


def compare(what, commands):
    """In turn; the best of five of each."""
    rates = {}
    for _ in range(5):
        for name, command in commands.items():
            began = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            rate = N * SIZE / (time.monotonic() - began) / 1e6
            rates[name] = max(rate, rates.get(name, 0))
    (one, first), (other, second) = rates.items()
    print('%s: %s %.0f MB/s, %s %.0f MB/s, ratio %.2f' % (what, one, first, other, second, first / second), flush=True)


def main(port):
    uris = ['http://127.0.0.1:%d/%d' % (port, i) for i in range(N)]
    curl = ['curl', '-s', '--no-progress-meter', '-Z', '--parallel-max', str(N)]
    for uri in uris:
        curl += ['-o', '/dev/null', uri]
    compare('8 connections from loopback', {'dlpipe': [sys.argv[1]] + uris, 'curl': curl})
    with tempfile.TemporaryDirectory() as folder:
        keep = [sys.argv[1], 'cache=' + folder] + uris
        subprocess.run(keep, check=True)
        entries = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.entry')]
        assert len(entries) == N
        cat = 'for file in "$@"; do cat "$file" >/dev/null & done; wait'
        compare('8 files from the cache', {'dlpipe': keep, 'cat': ['sh', '-c', cat, 'sh'] + entries})


if __name__ == '__main__':
    server_pid, server_port = listen()
    try:
        main(server_port)
    finally:
        os.kill(server_pid, signal.SIGKILL)
