# SPDX-License-Identifier: MIT
"""A server for tests that speaks as much of S3 as is read from it, with its own check of signatures, written from
AWS's description of Signature Version 4; and the services that give credentials: STS, SSO, the endpoints of
containers and of instances."""
import calendar
import hashlib
import hmac
import http.server
import json
import re
import socket
import struct
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape


class Refused(Exception):
    def __init__(self, status, code, message='', **elements):
        super().__init__(code)
        self.status, self.code, self.message, self.elements = status, code, message, elements


def sign(secret, scope, text):
    key = b'AWS4' + secret.encode()
    for part in scope.split('/'):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def canonical_query(raw):
    pairs = []
    for part in raw.split('&') if raw else []:
        name, _, value = part.partition('=')
        pairs.append(tuple(urllib.parse.quote(urllib.parse.unquote(x), safe='-_.~') for x in (name, value)))
    return '&'.join('%s=%s' % pair for pair in sorted(pairs))


class Store:
    """What there is, and how it behaves."""

    def __init__(self):
        self.region = 'us-east-1'
        self.keys = {'AKTEST': ('secret-of-test', None)}  # access key: secret, session token
        self.expired = set()  # access keys
        self.buckets = {}  # name: {key: bytes}
        self.public, self.payers, self.regions = set(), set(), {}
        self.page_size = 1000
        self.skew = 0  # of the server's clock, seconds
        self.faults = []  # what the next requests for objects meet
        self.pause = 0  # seconds behind each 16 KiB
        self.requests = []  # (kind, target, header fields)
        self.lock = threading.Lock()
        self.sts = {}  # role: access key
        self.instance_role = None
        self.tokens = {}  # what a service of credentials accepts: its name: token

    def add_key(self, access_key, secret, token=None):
        self.keys[access_key] = (secret, token)

    def etag(self, data):
        return '"%s"' % hashlib.md5(data).hexdigest()

    def count(self, kind):
        return sum(1 for r in self.requests if r[0] == kind)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    # ---- answers ----

    def answer(self, status, body=b'', headers=(), chunked=False):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if chunked:
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            for at in range(0, len(body), 10000):
                part = body[at:at + 10000]
                self.wfile.write(b'%x\r\n%s\r\n' % (len(part), part))
            self.wfile.write(b'0\r\n\r\n')
            return
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def refuse(self, refused):
        elements = dict(refused.elements)
        region = elements.pop('header_region', None)
        body = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message>%s</Error>' % (
            refused.code, escape(refused.message), ''.join(
                '<%s>%s</%s>' % (name, escape(value), name) for name, value in elements.items()))
        self.answer(refused.status, body.encode(), [('x-amz-bucket-region', region)] if region else [])

    def send_date(self):
        return self.date_time_string(int(time.time() + self.server.store.skew))

    def send_response(self, code, message=None):
        self.send_response_only(code, message)
        self.send_header('Date', self.send_date())

    def log_message(self, *args):
        pass

    # ---- signatures ----

    def check_signature(self, region, service='s3', body=b''):
        """The access key; None: it is not signed."""
        store = self.server.store
        value = self.headers.get('Authorization')
        if value is None:
            if any(name.lower().startswith('x-amz-') for name in self.headers):
                raise Refused(403, 'AccessDenied', 'x-amz- fields need a signature')
            return None
        match = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, '
                             r'SignedHeaders=([^,]+), Signature=([0-9a-f]{64})', value)
        if not match:
            raise Refused(400, 'AuthorizationHeaderMalformed', 'not Signature Version 4')
        access_key, day, its_region, its_service, names, signature = match.groups()
        if access_key not in store.keys:
            raise Refused(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our '
                          'records.', AWSAccessKeyId=access_key)
        secret, token = store.keys[access_key]
        if access_key in store.expired:
            raise Refused(400, 'ExpiredToken', 'The provided token has expired.', **{'Token-0': str(token)})
        if its_region != region or its_service != service:
            raise Refused(400, 'AuthorizationHeaderMalformed', "the region '%s' is wrong; expecting '%s'" % (
                its_region, region), Region=region)
        self.check_time(day)
        names = names.split(';')
        present = {name.lower() for name in self.headers}
        needed = {'host'} | {name for name in present if name.startswith('x-amz-')}
        if names != sorted(names) or not needed <= set(names) or not set(names) <= present:
            raise Refused(403, 'AccessDenied', 'There were headers present in the request which were not signed')
        if self.headers.get('x-amz-security-token') != token:
            raise Refused(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')
        digest = self.headers['x-amz-content-sha256']
        if digest != hashlib.sha256(body).hexdigest():
            raise Refused(400, 'XAmzContentSHA256Mismatch')
        path, _, query = self.path.partition('?')
        request = '\n'.join([self.command, path, canonical_query(query)] + [
            '%s:%s' % (name, ' '.join(self.headers[name].split())) for name in names] + ['', ';'.join(names), digest])
        scope = '%s/%s/%s/aws4_request' % (day, region, service)
        text = 'AWS4-HMAC-SHA256\n%s\n%s\n%s' % (
            self.headers['x-amz-date'], scope, hashlib.sha256(request.encode()).hexdigest())
        if sign(secret, scope, text) != signature:
            raise Refused(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the '
                          'signature you provided.', AWSAccessKeyId=access_key, StringToSign=text)
        return access_key

    def check_time(self, day):
        stamp = self.headers['x-amz-date']
        sent = calendar.timegm(time.strptime(stamp, '%Y%m%dT%H%M%SZ'))
        if abs(sent - time.time() - self.server.store.skew) > 900 or not stamp.startswith(day):
            raise Refused(403, 'RequestTimeTooSkewed', 'The difference between the request time and the current '
                          'time is too large.')

    # ---- objects ----

    def do_GET(self):
        path, _, query = self.path.partition('?')
        try:
            if path.startswith('/latest/') or path.startswith('/creds') or path == '/federation/credentials':
                return self.give_credentials(path, dict(urllib.parse.parse_qsl(query)))
            self.serve_store(path, query)
        except Refused as refused:
            self.refuse(refused)
        except OSError:
            self.close_connection = True

    def find_bucket(self, path):
        """Path style, or a bucket in the host's name."""
        host = self.headers['Host'].split(':')[0]
        path = urllib.parse.unquote(path, errors='surrogateescape')
        if host.endswith('.localhost'):
            return host[:-len('.localhost')], path[1:]
        bucket, _, key = path[1:].partition('/')
        return bucket, key

    def serve_store(self, path, query):
        store = self.server.store
        bucket, key = self.find_bucket(path)
        kind = 'list' if 'list-type=2' in query else 'object'
        with store.lock:
            store.requests.append((kind, self.path, dict(self.headers.items())))
            fault = store.faults.pop(0) if store.faults and kind == 'object' else None
        region = store.regions.get(bucket, store.region)
        if bucket not in store.buckets:
            self.check_signature(region)
            raise Refused(404, 'NoSuchBucket', 'The specified bucket does not exist', BucketName=bucket)
        used = re.search(r'/\d{8}/([^/]+)/s3/', self.headers.get('Authorization', ''))
        if used and used[1] != region and bucket in store.regions:
            raise Refused(301, 'PermanentRedirect', 'The bucket you are attempting to access must be addressed '
                          'using the specified endpoint.', Bucket=bucket, header_region=region)
        access_key = self.check_signature(region)
        if access_key is None and bucket not in store.public:
            raise Refused(403, 'AccessDenied', 'Access Denied')
        if bucket in store.payers and self.headers.get('x-amz-request-payer') != 'requester':
            raise Refused(403, 'AccessDenied', 'Access Denied')
        if kind == 'list':
            return self.list_bucket(bucket, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)))
        if key not in store.buckets[bucket]:
            raise Refused(404, 'NoSuchKey', 'The specified key does not exist.', Key=key)
        self.send_object(store.buckets[bucket][key], fault)

    def send_object(self, data, fault):
        store = self.server.store
        if fault == 'slow-down':
            raise Refused(503, 'SlowDown', 'Please reduce your request rate.')
        if fault == 'bare-403':
            return self.answer(403)
        if fault == 'timeout-400':
            raise Refused(400, 'RequestTimeout', 'Your socket connection to the server was not read from.')
        start, status, headers = 0, 200, [('ETag', store.etag(data)), ('Accept-Ranges', 'bytes')]
        match = re.fullmatch(r'bytes=(\d+)-(\d*)', self.headers.get('Range', ''))
        end = len(data) - 1
        if match:
            start, end = int(match[1]), min(int(match[2] or end), end)
            if start >= len(data):
                raise Refused(416, 'InvalidRange', 'The requested range is not satisfiable',
                              ActualObjectSize=str(len(data)))
            status = 206
            headers.append(('Content-Range', 'bytes %d-%d/%d' % (start, end, len(data))))
        self.send_response(status)
        for name, value in headers + [('Content-Length', str(end - start + 1))]:
            self.send_header(name, value)
        self.end_headers()
        for at in range(start, end + 1, 16384):
            self.wfile.write(data[at:min(at + 16384, end + 1)])
            if fault == 'reset' and at - start > (end - start) // 2:
                self.wfile.flush()
                time.sleep(0.05)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                self.close_connection = True
                raise OSError('reset')
            time.sleep(store.pause)

    def list_bucket(self, bucket, query):
        store = self.server.store
        prefix, delimiter = query.get('prefix', ''), query.get('delimiter')
        after = bytes.fromhex(query['continuation-token']).decode() if 'continuation-token' in query else ''
        quote = (lambda x: urllib.parse.quote_plus(x, safe='/-_.')) if query.get('encoding-type') == 'url' else escape
        body, folders, n, last = [], [], 0, None
        for key in sorted(store.buckets[bucket], key=lambda k: k.encode()):
            if not key.startswith(prefix) or key.encode() <= after.encode():
                continue
            if delimiter and delimiter in key[len(prefix):]:
                folder = prefix + key[len(prefix):].split(delimiter)[0] + delimiter
                if folder not in folders:
                    folders.append(folder)
                continue
            if n == store.page_size:
                break
            data = store.buckets[bucket][key]
            body.append('<Contents><Key>%s</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>%s</ETag>'
                        '<Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>' % (
                            quote(key), escape(store.etag(data), {'"': '&quot;'}), len(data)))
            n, last = n + 1, key
        else:
            last = None
        text = ('<?xml version="1.0" encoding="UTF-8"?>\n'
                '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>%s</Name><Prefix>%s</Prefix>'
                '<KeyCount>%d</KeyCount><EncodingType>url</EncodingType><IsTruncated>%s</IsTruncated>%s%s%s'
                '</ListBucketResult>' % (
                    bucket, quote(prefix), n, 'true' if last else 'false',
                    '<NextContinuationToken>%s</NextContinuationToken>' % last.encode().hex() if last else '',
                    ''.join(body), ''.join('<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>' % quote(f)
                                           for f in folders)))
        self.answer(200, text.encode(), chunked=True)

    # ---- credentials ----

    def describe_key(self, access_key, names=('AccessKeyId', 'SecretAccessKey', 'Token')):
        secret, token = self.server.store.keys[access_key]
        return dict(zip(names, (access_key, secret, token)))

    def give_json(self, value):
        self.answer(200, json.dumps(value).encode())

    def expect_token(self, kind, header):
        store = self.server.store
        store.requests.append((kind, self.path, dict(self.headers.items())))
        if self.headers.get(header) != store.tokens.get(kind):
            raise Refused(401, 'Unauthorized', 'wrong token')

    def give_credentials(self, path, query):
        store = self.server.store
        later = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + 3600))
        if path == '/creds':
            self.expect_token('container', 'Authorization')
            return self.give_json(dict(self.describe_key('AKCONTAINER'), Expiration=later))
        if path == '/federation/credentials':
            self.expect_token('sso', 'x-amz-sso_bearer_token')
            if query != {'account_id': '123', 'role_name': 'Reader'}:
                raise Refused(403, 'Forbidden')
            return self.give_json({'roleCredentials': dict(self.describe_key(
                'AKSSO', ('accessKeyId', 'secretAccessKey', 'sessionToken')), expiration=int(time.time() + 3600) * 1000)})
        self.expect_token('instance', 'x-aws-ec2-metadata-token')
        folder = '/latest/meta-data/iam/security-credentials/'
        if store.instance_role is None or not path.startswith(folder):
            raise Refused(404, 'NotFound')
        if path == folder:
            return self.answer(200, store.instance_role.encode())
        return self.give_json(dict(self.describe_key('AKINSTANCE'), Code='Success', Expiration=later))

    def do_PUT(self):
        store = self.server.store
        if self.path != '/latest/api/token' or store.instance_role is None:
            return self.refuse(Refused(404, 'NotFound'))
        if self.headers.get('x-aws-ec2-metadata-token-ttl-seconds') != '21600':
            return self.refuse(Refused(400, 'BadRequest'))
        self.answer(200, store.tokens['instance'].encode())

    def do_POST(self):
        """STS."""
        store = self.server.store
        body = self.rfile.read(int(self.headers['Content-Length']))
        form = dict(urllib.parse.parse_qsl(body.decode()))
        store.requests.append(('sts', self.path, form))
        try:
            action = form['Action']
            if form['Version'] != '2011-06-15' or not form['RoleSessionName'] or form['RoleArn'] not in store.sts:
                raise Refused(403, 'AccessDenied', 'no such role')
            if action == 'AssumeRoleWithWebIdentity':
                if form['WebIdentityToken'] != store.tokens['web']:
                    raise Refused(400, 'InvalidIdentityToken', 'the token is not valid')
            elif self.check_signature(store.region, 'sts', body) is None:
                raise Refused(403, 'MissingAuthenticationToken')
        except Refused as refused:
            return self.refuse(refused)
        key = self.describe_key(store.sts[form['RoleArn']])
        self.answer(200, ('<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult><Credentials>'
                          '<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>'
                          '<SessionToken>%s</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>'
                          '</%sResult></%sResponse>' % (action, action, key['AccessKeyId'], key['SecretAccessKey'],
                                                        key['Token'], action, action)).encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.store = Store()
        self.uri = 'http://127.0.0.1:%d' % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass

    def close(self):
        self.shutdown()
        self.server_close()
