#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A deliberately bad HTTP/1.1 server for tests.  127.0.0.1 only, standard library only, ends by itself.

  faulty-http.py --root DIR [--port 0] [--seed 1] [--rate 0.3] [--max-requests 20000] [--max-seconds 600] [--port-file F]

GET /MODE/NAME serves DIR/NAME with one fault (table MODES); /chaos/NAME draws a fault per request from the
seed with probability --rate and keeps no promise twice, except that a client that retries and resumes
correctly always gets the right bytes in the end.  GET /_stats returns JSON counts per fault.
The draw depends on (seed, name, n-th request for that name), so a run can be repeated.
"""
import argparse, gzip, hashlib, json, os, random, socket, struct, threading, time, urllib.parse

A = argparse.ArgumentParser(); A.add_argument('--root', required=True); A.add_argument('--port', type=int, default=0)
A.add_argument('--seed', type=int, default=1); A.add_argument('--rate', type=float, default=.3)
A.add_argument('--max-requests', type=int, default=20000); A.add_argument('--max-seconds', type=float, default=600)
A.add_argument('--port-file'); A.add_argument('--packet', type=int, default=0); A = A.parse_args()
LOCK, STATS, COUNT = threading.Lock(), {}, {}
STOP = threading.Event(); CHAOS = ['short', 'rst', 'rst99', 'chunk-cut', 'http503', 'http429', 'http500', 'norange', 'drop', 'stall',
                                   'slow', 'redirect', 'long', 'range-early', 'status200-range', 'dup-bytes-header', 'close-after']
ONCE = {'http503', 'http429', 'http500', 'drop', 'expired403', 'etag-change-once'}      # a plain /MODE/ of these fails the first 2 times

class Dripping:
    """A socket that sends --packet bytes at a time."""
    def __init__(self, c): self.c = c; c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    def sendall(self, d):
        for i in range(0, len(d), A.packet): self.c.sendall(d[i:i + A.packet])
    def __getattr__(self, n): return getattr(self.c, n)

def serve(c):
    if A.packet: c = Dripping(c)
    c.settimeout(30); buf = b''
    try:
        while not STOP.is_set():
            while b'\r\n\r\n' not in buf:
                d = c.recv(65536)
                if not d or len(buf) > 1 << 16: return
                buf += d
            head, buf = buf.split(b'\r\n\r\n', 1); lines = head.decode('latin1').split('\r\n')
            method, target, _ = lines[0].split(' ', 2); h = {}
            for x in lines[1:]:
                k, v = x.split(':', 1); h.setdefault(k.strip().lower(), []).append(v.strip())
            if not one(c, method, target, h): return
    except (OSError, ValueError): pass
    finally: c.close()

def send(c, status, hdr, body=b'', head_only=False):
    c.sendall(('HTTP/1.1 %s\r\n' % status + ''.join('%s: %s\r\n' % kv for kv in hdr) + '\r\n').encode('latin1') + (b'' if head_only else body)); return True

def one(c, method, target, h):
    path = target.split('?')[0]
    if path == '/_stats': b = json.dumps(STATS, sort_keys=True).encode(); return send(c, '200 OK', [('Content-Length', len(b))], b)
    _, mode, name = (path + '/').split('/', 2); name = urllib.parse.unquote_to_bytes(name.rstrip('/'))
    with LOCK:
        n = COUNT[(mode, name)] = COUNT.get((mode, name), 0) + 1
        tot = STATS['requests'] = STATS.get('requests', 0) + 1
    if tot >= A.max_requests: STOP.set()
    if mode == 'chaos':
        r = random.Random(hashlib.sha256(b'%d/%s/%d' % (A.seed, name, n)).digest()); f = r.choice(CHAOS) if r.random() < A.rate else 'ok'
    else: r = random.Random(A.seed); f = 'ok' if mode in ONCE and n > 2 else mode
    with LOCK: STATS[f] = STATS.get(f, 0) + 1
    p = os.path.join(A.root.encode(), os.path.basename(name))
    if not os.path.isfile(p): return send(c, '404 Not Found', [('Content-Length', 0)])
    data = open(p, 'rb').read(); etag = '"%s"' % hashlib.sha256(data).hexdigest()[:16]
    if f == 'etag-change' or (f == 'etag-change-once' and n > 1): data = data[::-1]; etag = '"changed-%d"' % n
    if f == 'shrinks' and n == 1: f = 'chunked'; h.pop('range', None)     # how long it is is said when it is read, not when it is listed
    elif f == 'shrinks' and n > 2: data = data[:len(data) // 2]
    if f == 'weak-etag': etag = 'W/' + etag
    if f == 'http503': return send(c, '503 Slow Down', [('Retry-After', 0 if mode == 'chaos' else 1), ('Content-Length', 0)])
    if f == 'http429': return send(c, '429 Too Many Requests', [('Retry-After', time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime(time.time() + (0 if mode == 'chaos' else 2)))), ('Content-Length', 0)])
    if f == 'http500': return send(c, '500 Oops', [('Content-Length', 5)], b'oops\n')
    if f == 'expired403': return send(c, '403 Forbidden', [('Content-Length', 35)], b'<Error><Code>ExpiredToken</Code>...')
    if f == 'html200': b = b'<html>please log in</html>'; return send(c, '200 OK', [('Content-Type', 'text/html'), ('Content-Length', len(b))], b)
    if f == 'drop': return False
    if f == 'redirect': return send(c, '302 Found', [('Location', '/ok/' + urllib.parse.quote(name)), ('Content-Length', 0)])
    if f == 'redirect-loop': return send(c, '302 Found', [('Location', path), ('Content-Length', 0)])
    if f == 'redirect-host': return send(c, '302 Found', [('Location', 'http://localhost:%d/noauth/%s' % (PORT, urllib.parse.quote(name))), ('Content-Length', 0)])
    if f == 'noauth' and 'authorization' in h: return send(c, '400 Bad Request', [('Content-Length', 28)], b'only one auth mechanism, pls\n'[:28])
    start, total, rng = 0, len(data), h.get('range')
    if rng and len(rng) > 1: f = 'ok'; rng = rng[:1]                      # what some CDNs do with repeated Range: first wins
    if rng and f not in ('norange',):
        if 'if-range' not in h or h['if-range'][0] == etag:
            s = rng[0].split('=')[1].split('-')[0]; start = int(s or 0)
            if start >= total: return send(c, '416 Range Not Satisfiable', [('Content-Range', 'bytes */%d' % total), ('Content-Length', 0)])
            if f == 'range-early' and start: start = start // 4096 * 4096  # legal: an earlier start than asked, said in Content-Range
        else: rng = None
    else: rng = None
    if f == 'expired-middle' and start: return send(c, '403 Forbidden', [('Content-Length', 35)], b'<Error><Code>ExpiredToken</Code>...')
    body = data[start:]; hdr = [('ETag', etag), ('Accept-Ranges', 'none' if f == 'norange' else 'bytes')]
    st = '206 Partial Content' if rng else '200 OK'
    if rng: hdr.append(('Content-Range', 'bytes %d-%d/%d' % (start, total - 1, total)))
    if f == 'status200-range' and rng: st = '200 OK'
    if f in ('gzip-encoding', 'gzip-encoding-cut'):
        body = gzip.compress(data, mtime=0); hdr = [('Content-Encoding', 'gzip'), ('ETag', etag)]; st = '200 OK'
        if f.endswith('cut'): body = body[:len(body) // 2]
    if f == 'no-length': send(c, '200 OK', [('Connection', 'close')], data); return False
    if f == 'eof': send(c, '200 OK', hdr + [('Connection', 'close')], body[:len(body) * 2 // 3]); return False   # no length: a cut nobody can see
    if f in ('chunk-cut', 'chunked'):
        send(c, st, hdr + [('Transfer-Encoding', 'chunked')]); end = len(body) if f == 'chunked' else r.randrange(len(body) + 1)
        for i in range(0, end, 8192): x = body[i:min(i + 8192, end)]; c.sendall(b'%x\r\n' % len(x) + x + b'\r\n')
        if f == 'chunked': c.sendall(b'0\r\n\r\n'); return True
        return False                                                      # cut exactly at a chunk border
    hdr.append(('Content-Length', len(body)))
    if f == 'wrong-length': hdr[-1] = ('Content-Length', len(body) + 10)
    if f == 'dup-bytes-header': hdr.append(('Content-Length', len(body)))
    if method == 'HEAD': return send(c, st, hdr)
    cut = {'short': r.randrange(len(body) + 1), 'rst': r.randrange(len(body) + 1), 'rst99': len(body) * 99 // 100, 'stall': len(body) // 2, 'expired-middle': len(body) // 2,
           'shrinks': len(body) // 2}.get(f)
    if f in ('slow', 'one-byte'):
        send(c, st, hdr); step = 1 if f == 'one-byte' else 1 + len(body) // 20; c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(body), step): c.sendall(body[i:i + step]); time.sleep(0 if f == 'one-byte' else .002)
        return True
    if cut is not None:
        send(c, st, hdr, body[:cut])
        if f == 'stall': STOP.wait(3 if mode == 'chaos' else 20)
        if f.startswith('rst'): time.sleep(.02); c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        return False
    send(c, st, hdr, body)
    if f == 'long': c.sendall(b'HTTP junk after the body')
    return f not in ('wrong-length', 'long', 'close-after')

S = socket.socket(); S.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); S.bind(('127.0.0.1', A.port)); S.listen(256); S.settimeout(.5)
PORT = S.getsockname()[1]; END = time.monotonic() + A.max_seconds
if A.port_file:
    with open(A.port_file + '.tmp', 'w') as f: f.write('%d\n' % PORT)
    os.rename(A.port_file + '.tmp', A.port_file)
print('http://127.0.0.1:%d/' % PORT, flush=True)
while not STOP.is_set() and time.monotonic() < END:
    try: c, _ = S.accept()
    except socket.timeout: continue
    threading.Thread(target=serve, args=(c,), daemon=True).start()
time.sleep(.2); print(json.dumps(STATS, sort_keys=True))
