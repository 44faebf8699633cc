#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""8 files of 64 MiB at once from loopback: the program given, which reads its arguments, beside curl."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

SIZE = 64 << 20
N = 8


def serve(client, blob):
    with client:
        while True:
            head = b''
            while b'\r\n\r\n' not in head:
                got = client.recv(65536)
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


def main(port):
    uris = ['http://127.0.0.1:%d/%d' % (port, i) for i in range(N)]
    curl = ['curl', '-s', '--no-progress-meter', '-Z', '--parallel-max', str(N)]
    for uri in uris:
        curl += ['-o', '/dev/null', uri]
    rates = {}
    for _ in range(3):
        for name, command in (('dlpipe', [sys.argv[1]] + uris), ('curl', curl)):
            began = time.monotonic()
            subprocess.run(command, check=True)
            rate = N * SIZE / (time.monotonic() - began) / 1e6
            rates[name] = max(rate, rates.get(name, 0))
    print('8 connections from loopback: dlpipe %.0f MB/s, curl %.0f MB/s, ratio %.2f' % (
        rates['dlpipe'], rates['curl'], rates['dlpipe'] / rates['curl']))


if __name__ == '__main__':
    server_pid, server_port = listen()
    try:
        main(server_port)
    finally:
        os.kill(server_pid, signal.SIGKILL)
