#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""s3:// against the server of s3_server.py: listings, credentials from everywhere, refusals, whole runs."""
import hashlib
import os
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import probe  # noqa: E402
import s3_server  # noqa: E402
import tap  # noqa: E402

TOKEN = 'token-of-session-S3CRET'


class S3Case(probe.Case):
    secrets = ('secret-of-', 'S3CRET')

    def setUp(self):
        super().setUp()
        self.server = s3_server.Server()
        self.store = self.server.store
        self.addCleanup(self.server.close)
        self.env.update(AWS_ENDPOINT_URL=self.server.uri, AWS_EC2_METADATA_DISABLED='true')
        self.set_keys('AKTEST', 'secret-of-test')
        self.store.buckets['b'] = {'a.jsonl': probe.make_lines(1, 10)}

    def set_keys(self, access_key, secret, token=None):
        self.env.update(AWS_ACCESS_KEY_ID=access_key, AWS_SECRET_ACCESS_KEY=secret)
        if token:
            self.env['AWS_SESSION_TOKEN'] = token

    def drop_keys(self):
        for name in ('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'):
            del self.env[name]

    def assert_reads(self, *properties):
        self.assertEqual(self.cat('s3://b/a.jsonl', *properties), self.store.buckets['b']['a.jsonl'])

    def used_keys(self):
        return [r[2]['Authorization'].split('Credential=')[1].split('/')[0]
                for r in self.store.requests if r[0] == 'object']


class Listing(S3Case):
    def keys(self, pattern, *properties):
        files = self.list(pattern, *properties)
        bucket = pattern.split('/')[2]
        for uri, size, identity in files:
            data = self.store.buckets[bucket][uri[len('s3://%s/' % bucket):]]
            self.assertEqual(int(size), len(data))
            self.assertEqual(identity, 'etag="%s"' % hashlib.md5(data).hexdigest())
        return [uri[len('s3://%s/' % bucket):] for uri, _, _ in files]

    def test_2500(self):
        self.store.buckets['many'] = {'d/%d-%04d.jsonl' % (i % 3, i): b'%d' % i for i in range(2500)}
        self.store.buckets['many'].update({'e/%d' % i: b'' for i in range(100)})
        wanted = sorted(key for key in self.store.buckets['many'] if key.startswith('d/'))
        self.assertEqual(self.keys('s3://many/d/*.jsonl'), wanted)
        # Three pages, and nothing for each file.
        self.assertEqual([r[0] for r in self.store.requests], ['list'] * 3)
        self.assertIn('delimiter=%2F', self.store.requests[0][1])
        self.assertEqual(self.keys('s3://many/**/1-*'), [key for key in wanted if key.startswith('d/1-')])

    def test_names(self):
        names = ['a b', 'a+b', 'a%20b', 'a&b=c', 'a;b', 'a#b', 'a@b:c', "a'b\"<c>", 'a\u00e4\u4e2d', 'a\U0001f600',
                 'a~-_.!()', 'a\\b', 'a|b', 'a\x01b', 'a]b', 'a,b$']
        self.store.buckets['names'] = {'n/' + name: name.encode() for name in names}
        wanted = sorted(names, key=lambda name: name.encode())
        self.assertEqual(self.keys('s3://names/n/*'), ['n/' + name for name in wanted])
        self.assertEqual(self.cat('s3://names/n/*'), b''.join(name.encode() for name in wanted))
        for name in ('a b', 'a+b', 'a%20b', 'a#b', 'a\u00e4\u4e2d'):
            self.assertEqual(self.cat('s3://names/n/' + name), name.encode())

    def test_globs(self):
        keys = ['a.jsonl', '.hidden.jsonl', 'd/', 'd/a.jsonl', 'd/b.txt', 'd/.c.jsonl', 'd/e/a.jsonl', 'd/e/f/a.jsonl',
                'd//x.jsonl', 'star*.jsonl', 'starry.jsonl', 'dd/a.jsonl']
        self.store.buckets['g'] = {key: key.encode() for key in keys}
        for pattern, wanted in (
                ('*.jsonl', ['a.jsonl', 'star*.jsonl', 'starry.jsonl']), ('d/*.jsonl', ['d/a.jsonl']),
                ('d*/a.jsonl', ['d/a.jsonl', 'dd/a.jsonl']), ('d/**', ['d//x.jsonl', 'd/a.jsonl', 'd/b.txt',
                                                                     'd/e/a.jsonl', 'd/e/f/a.jsonl']),
                ('**/f/*', ['d/e/f/a.jsonl']), ('d/[ab].*', ['d/a.jsonl', 'd/b.txt']), ('star*.jsonl', ['star*.jsonl']),
                ('d/.*', ['d/.c.jsonl']), ('d', ['d/a.jsonl', 'd/b.txt']), ('d/', ['d/a.jsonl', 'd/b.txt']),
                ('', ['a.jsonl', 'star*.jsonl', 'starry.jsonl']), ('d/e/a.jsonl', ['d/e/a.jsonl'])):
            self.assertEqual(self.keys('s3://g/' + pattern), wanted, pattern)
        self.assert_refused('s3://g/none*', 's3://g/none*', 'no object matches')
        self.assert_refused('s3://g/none', 's3://g/none', 'NoSuchKey')
        self.assert_refused('s3://g/none/', 's3://g/none/', 'no object directly in it')

    def test_empty_object(self):
        self.store.buckets['b']['empty'] = b''
        self.assertEqual(self.keys('s3://b/empty'), ['empty'])
        self.assertEqual(self.cat('s3://b/empty'), b'')


class Credentials(S3Case):
    """Each place; the server says whose signature it saw."""

    def setUp(self):
        super().setUp()
        for name in ('FILE', 'CONFIG', 'PROCESS', 'ROLE', 'WEB', 'SSO', 'CONTAINER', 'INSTANCE'):
            self.store.add_key('AK' + name, 'secret-of-' + name, TOKEN + name if name not in ('FILE', 'CONFIG') else None)

    def assert_used(self, name, *properties):
        self.store.requests.clear()
        self.assert_reads(*properties)
        self.assertEqual(set(self.used_keys()), {name})

    def test_environment(self):
        self.assert_used('AKTEST')
        self.set_keys('AKWEB', 'secret-of-WEB', TOKEN + 'WEB')
        self.assert_used('AKWEB')

    def test_profiles(self):
        self.write('.aws/credentials', '[default]\naws_access_key_id = AKFILE\naws_secret_access_key = secret-of-FILE\n')
        self.write('.aws/config', '[profile other]\naws_access_key_id=AKCONFIG\naws_secret_access_key=secret-of-CONFIG\n')
        self.assert_used('AKTEST')
        self.assert_used('AKCONFIG', 'profile=other')
        self.drop_keys()
        self.assert_used('AKFILE')
        self.env['AWS_PROFILE'] = 'other'
        self.assert_used('AKCONFIG')
        self.assert_used('AKFILE', 'profile=default')
        os.rename(self.path('.aws', 'credentials'), self.path('x'))
        os.rename(self.path('.aws', 'config'), self.path('y'))
        self.env.update(AWS_SHARED_CREDENTIALS_FILE=self.path('x'), AWS_CONFIG_FILE='~/y')
        self.assert_used('AKCONFIG')
        self.env['AWS_PROFILE'] = 'none'
        self.assert_refused('s3://b/a.jsonl', 'profile "none"')

    def test_process(self):
        self.drop_keys()
        self.write('give', '#!/bin/sh\necho S3CRET >&2; echo "$@" >>%s\n'
                   'echo \'{"Version": 1, "AccessKeyId": "AKPROCESS", "SecretAccessKey": "secret-of-PROCESS", '
                   '"SessionToken": "%sPROCESS", "Expiration": "2099-01-01T00:00:00Z"}\'\n' % (self.path('calls'), TOKEN))
        os.chmod(self.path('give'), stat.S_IRWXU)
        self.write('.aws/config', '[default]\ncredential_process = %s "a b"\n' % self.path('give'))
        self.assert_used('AKPROCESS')
        self.assertEqual(self.read('calls'), b'a b\n')
        self.write('give', '#!/bin/sh\necho "{\\"AccessKeyId\\": \\"S3CRET\\"}"\n')
        self.assert_refused('s3://b/a.jsonl', 'credential_process', 'gives no credentials')
        self.write('give', '#!/bin/sh\n')
        self.assert_refused('s3://b/a.jsonl', 'credential_process', 'gives no credentials')
        self.write('give', '#!/bin/sh\necho S3CRET; exit 1\n')
        self.assert_refused('s3://b/a.jsonl', 'credential_process ends with an error')

    def test_web_identity(self):
        self.drop_keys()
        self.store.tokens['web'] = 'S3CRET-web'
        self.store.sts['arn:aws:iam::1:role/r'] = 'AKWEB'
        self.write('token', 'S3CRET-web\n')
        self.env.update(AWS_ROLE_ARN='arn:aws:iam::1:role/r', AWS_WEB_IDENTITY_TOKEN_FILE=self.path('token'))
        self.assert_used('AKWEB')
        self.assertEqual(self.store.count('sts'), 1)
        self.write('token', 'S3CRET-other')
        self.assert_refused('s3://b/a.jsonl', 'STS', 'InvalidIdentityToken')
        del self.env['AWS_ROLE_ARN']
        self.write('token', 'S3CRET-web')
        self.write('.aws/config', '[default]\nrole_arn = arn:aws:iam::1:role/r\nweb_identity_token_file = %s\n'
                   'role_session_name = mine\n' % self.path('token'))
        self.assert_used('AKWEB')
        self.assertEqual([r[2]['RoleSessionName'] for r in self.store.requests if r[0] == 'sts'], ['mine'])

    def test_role(self):
        self.drop_keys()
        self.store.sts['arn:aws:iam::1:role/r'] = 'AKROLE'
        self.write('.aws/config', '[profile base]\naws_access_key_id = AKFILE\naws_secret_access_key = secret-of-FILE\n'
                   '[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nexternal_id = a&b\n')
        self.assert_used('AKROLE')
        self.assertEqual([r[2].get('ExternalId') for r in self.store.requests if r[0] == 'sts'], ['a&b'])
        self.write('.aws/config', '[default]\nrole_arn = x\nsource_profile = a\n[profile a]\nrole_arn = x\n'
                   'source_profile = default\n')
        self.assert_refused('s3://b/a.jsonl', 'more than five deep')
        self.write('.aws/config', '[default]\nrole_arn = x\nsource_profile = a\nmfa_serial = 1\n')
        self.assert_refused('s3://b/a.jsonl', 'mfa_serial')

    def test_sso(self):
        self.drop_keys()
        self.store.tokens['sso'] = 'S3CRET-login'
        self.write('.aws/config', '[default]\nsso_session = work\nsso_account_id = 123\nsso_role_name = Reader\n'
                   '[sso-session work]\nsso_start_url = https://x.example/start\nsso_region = us-east-1\n')
        name = '.aws/sso/cache/%s.json' % hashlib.sha1(b'work').hexdigest()
        self.write(name, '{"accessToken": "S3CRET-login", "expiresAt": "2099-01-01T00:00:00Z"}')
        self.assert_used('AKSSO')
        self.write(name, '{"accessToken": "S3CRET-login", "expiresAt": "2020-01-01T00:00:00Z"}')
        self.assert_refused('s3://b/a.jsonl', 'aws sso login')
        self.write('.aws/config', '[default]\nsso_start_url = https://old.example/start\nsso_region = us-east-1\n'
                   'sso_account_id = 123\nsso_role_name = Reader\n')
        self.write('.aws/sso/cache/%s.json' % hashlib.sha1(b'https://old.example/start').hexdigest(),
                   '{"accessToken": "S3CRET-login", "expiresAt": "2099-01-01T00:00:00Z"}')
        self.assert_used('AKSSO')

    def test_container(self):
        self.drop_keys()
        self.store.tokens['container'] = 'S3CRET-container'
        self.write('token', 'S3CRET-container\n')
        self.env.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=self.server.uri + '/creds',
                        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=self.path('token'))
        self.assert_used('AKCONTAINER')
        self.write('token', 'S3CRET-other')
        self.assert_refused('s3://b/a.jsonl', "the container's endpoint", '401')
        self.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = 'http://example.org/creds'
        self.assert_refused('s3://b/a.jsonl', 'expected https')

    def test_instance(self):
        self.drop_keys()
        self.store.tokens['instance'], self.store.instance_role = 'S3CRET-instance', 'my-role'
        self.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = self.server.uri + '/'
        self.assert_refused('s3://b/a.jsonl', 'no credentials for S3')
        self.env['AWS_EC2_METADATA_DISABLED'] = 'false'
        self.assert_used('AKINSTANCE')
        self.store.instance_role = None
        self.assert_refused('s3://b/a.jsonl', 'no credentials for S3')

    def test_expired(self):
        """Credentials that the server calls expired are read again, once."""
        self.drop_keys()
        self.write('give', '#!/bin/sh\necho x >>%s\nif [ $(wc -l <%s) = 1 ]; then k=FILE; else k=CONFIG; fi\n'
                   'echo "{\\"AccessKeyId\\": \\"AK$k\\", \\"SecretAccessKey\\": \\"secret-of-$k\\"}"\n' % (
                       self.path('calls'), self.path('calls')))
        os.chmod(self.path('give'), stat.S_IRWXU)
        self.write('.aws/config', '[default]\ncredential_process = %s\n' % self.path('give'))
        self.store.expired.add('AKFILE')
        self.assert_reads()
        self.assertEqual(self.used_keys(), ['AKFILE', 'AKCONFIG', 'AKCONFIG'])
        self.assertEqual(self.read('calls'), b'x\n' * 2)
        self.store.expired.add('AKCONFIG')
        os.unlink(self.path('calls'))
        self.store.requests.clear()
        self.assert_refused('s3://b/a.jsonl', 'ExpiredToken')
        self.assertEqual(self.used_keys(), ['AKFILE', 'AKCONFIG'])
        # The same ones again: there is nothing to try.
        self.set_keys('AKFILE', 'secret-of-FILE')
        self.store.requests.clear()
        self.assert_refused('s3://b/a.jsonl', 'ExpiredToken')
        self.assertEqual(self.used_keys(), ['AKFILE'])


class Answers(S3Case):
    def test_wrong(self):
        self.set_keys('AKTEST', 'secret-of-nobody')
        for pattern in ('s3://b/a.jsonl', 's3://b/*'):
            self.assert_refused(pattern, 's3://b/', 'bucket b', 'SignatureDoesNotMatch')
        self.set_keys('AKNONE', 'secret-of-nobody')
        self.assert_refused('s3://b/a.jsonl', 's3://b/a.jsonl', 'InvalidAccessKeyId')
        self.drop_keys()
        said = self.assert_refused('s3://b/a.jsonl', 'no credentials for S3')
        self.assertIn('AWS_ACCESS_KEY_ID', said)
        self.env['AWS_ACCESS_KEY_ID'] = 'AKTEST'
        self.assert_refused('s3://b/a.jsonl', 'without its secret key')

    def test_missing(self):
        self.assert_refused('s3://none/a.jsonl', 's3://none/a.jsonl', 'bucket none', 'NoSuchBucket')
        self.assert_refused('s3://none/*', 's3://none/', 'NoSuchBucket')
        self.assert_refused('s3:///a', 's3://BUCKET/KEY')

    def test_no_reason(self):
        self.store.faults = ['bare-403']
        self.assert_refused('s3://b/a.jsonl', '403 Forbidden: bucket b: no reason given')

    def test_anonymous(self):
        self.drop_keys()
        self.assert_refused('s3://b/a.jsonl', 'AccessDenied', 'anonymous=true', properties=['anonymous=true'])
        self.store.public.add('b')
        self.assert_reads('anonymous=true')
        self.assertEqual(len(self.list('s3://b/*', 'anonymous=true')), 1)
        self.assertTrue(all('Authorization' not in r[2] for r in self.store.requests))

    def test_requester_pays(self):
        self.store.payers.add('b')
        self.assert_refused('s3://b/a.jsonl', 'AccessDenied', 'requester-pays=true')
        self.assert_reads('requester-pays=true')

    def test_region(self):
        """Of a bucket elsewhere is heard once."""
        self.store.regions['b'] = 'eu-west-7'
        self.assert_reads()
        self.assertEqual(len(self.store.requests), 3)
        self.store.requests.clear()
        self.assert_reads('region=eu-west-7')
        self.assertEqual(len(self.store.requests), 2)
        del self.store.regions['b']
        # By what is wrong with the signature.
        self.store.region = 'eu-west-8'
        self.env['AWS_REGION'] = 'us-west-1'
        self.assert_reads()
        self.env['AWS_REGION'] = 'us-west-1/x'
        self.assert_refused('s3://b/a.jsonl', 'eu-central-1', 'us-west-1/x')

    def test_region_flips(self):
        flip = self.server.RequestHandlerClass.check_signature

        def check(handler, region, *rest):
            return flip(handler, 'r-%d' % len(self.store.requests), *rest)
        self.server.RequestHandlerClass = type('Flip', (s3_server.Handler,), {'check_signature': check})
        self.assert_refused('s3://b/a.jsonl', 'AuthorizationHeaderMalformed')
        self.assertEqual(len(self.store.requests), 2)

    def test_faults(self):
        data = self.store.buckets['b']['big'] = probe.make_lines(2, 5000)
        for fault in ('slow-down', 'timeout-400', 'reset'):
            self.store.requests.clear()
            self.store.faults = [None, fault, fault]
            self.assertEqual(self.cat('s3://b/big'), data)
            # Each of them signed, and the last from where it broke off.
            self.assertEqual(len(self.used_keys()), 4)
            if fault == 'reset':
                self.assertGreater(int(self.store.requests[-1][2]['Range'][6:-1]), 0)
        self.assertEqual(self.cat('s3://b/big', offset=12345), data[12345:])

    def test_each_byte(self):
        self.store.buckets['b']['small'] = bytes(range(256)) * 2
        self.assertEqual(self.sweep('s3://b/small'), 513)

    def test_given_up(self):
        self.store.faults = ['slow-down'] * 1000
        done = self.probe('retry-time=50ms', 'cat', 's3://b/a.jsonl')
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'given up', done.stderr)
        self.assertIn(b'SlowDown: Please reduce', done.stderr)

    def test_clock(self):
        self.store.skew = 7200
        self.assert_reads()
        self.assertEqual(len(self.store.requests), 3)

    def test_virtual_host(self):
        uri = 'endpoint=http://localhost:%d' % self.server.server_port
        self.assert_reads(uri, 'path-style=false')
        self.assertEqual({r[2]['Host'] for r in self.store.requests}, {'b.localhost:%d' % self.server.server_port})
        self.assertEqual({r[1] for r in self.store.requests}, {'/a.jsonl'})
        self.assertEqual(len(self.list('s3://b/*', uri, 'path-style=false')), 1)

    def test_endpoint(self):
        for wrong in ('localhost:80', 'ftp://localhost', 'http://u:S3CRET@localhost', 'http://localhost?x'):
            self.assert_refused('s3://b/a.jsonl', 'the endpoint of S3', properties=['endpoint=' + wrong])
        self.env.update(AWS_ENDPOINT_URL='http://127.0.0.1:1', AWS_ENDPOINT_URL_S3=self.server.uri)
        self.assert_reads()

    def test_proxy(self):
        """What the surroundings give is never asked for by a proxy."""
        self.drop_keys()
        self.store.tokens['instance'], self.store.instance_role = 'S3CRET-instance', 'my-role'
        self.store.add_key('AKINSTANCE', 'secret-of-INSTANCE', TOKEN)
        del self.env['GIO_USE_PROXY_RESOLVER']
        self.env.update(AWS_EC2_METADATA_SERVICE_ENDPOINT=self.server.uri, AWS_EC2_METADATA_DISABLED='',
                        http_proxy='http://127.0.0.1:1')
        done = self.probe('retry-time=1ms', 'cat', 's3://b/a.jsonl')
        self.assertEqual(self.store.count('instance'), 2, done.stderr)


class Runs(S3Case):
    def setUp(self):
        super().setUp()
        self.store.buckets['b'] = {'d/%d.jsonl' % i: probe.make_lines(i, 12000) for i in range(2)}
        self.store.pause = 0.01

    def wanted(self):
        return b''.join(data for _, data in sorted(self.store.buckets['b'].items()))

    def test_kill(self):
        starts = []
        for after in (0.1, 0.3, 0.6):
            out = 'out-%d.jsonl' % (after * 10)
            self.store.pause = 0.01
            self.launch_killed(['s3://b/d/*.jsonl'], out, after)
            self.store.pause = 0
            self.store.requests.clear()
            done = self.launch(['s3://b/d/*.jsonl'], out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(out).replace(b'":"', b'": "'), self.wanted())
            starts += [int(r[2]['Range'][6:].split('-')[0]) for r in self.store.requests if 'Range' in r[2]]
        self.assertTrue(any(start > 0 for start in starts), starts)
        self.assert_no_secrets()

    def test_changed(self):
        self.launch_killed(['s3://b/d/*.jsonl'], 'out.jsonl', 0.3)
        self.store.buckets['b']['d/0.jsonl'] = self.store.buckets['b']['d/0.jsonl'][::-1]
        done = self.launch(['s3://b/d/*.jsonl'], 'out.jsonl')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'changed', done.stderr)
        self.assertIn(b's3://b/d/0.jsonl', done.stderr)

    def test_changed_meanwhile(self):
        """While it is read: never a mix of both."""
        def change():
            time.sleep(0.5)
            self.store.buckets['b']['d/0.jsonl'] = probe.make_lines(7, 12000)
        # Behind the look at the object and the look into it.
        self.store.faults = [None, None, 'reset']
        threading.Thread(target=change).start()
        done = self.launch(['s3://b/d/0.jsonl'], 'out.jsonl')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'the source changed', done.stderr)

    def test_mixed(self):
        """Files, http and s3 in one source, and in a list."""
        self.store.pause = 0
        self.store.public.add('b')
        self.write('local.jsonl', probe.make_lines(9, 100), 'wb')
        locations = [self.path('local.jsonl'), self.server.uri + '/b/d/0.jsonl', 's3://b/d/1.jsonl']
        wanted = sorted(self.read('local.jsonl').splitlines() + self.wanted().splitlines())
        done = self.launch(locations, 'out.jsonl')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(self.read('out.jsonl').replace(b'":"', b'": "').splitlines()), wanted)
        self.write('names.txt', '\n'.join(locations))
        command = self.command([], 'other.jsonl')
        command[-1] = command[-1].replace('file-source ', 'file-source list=names.txt ')
        done = self.run_program(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read('other.jsonl'), self.read('out.jsonl'))

    def test_properties(self):
        """Set in the graph, for one source alone."""
        self.store.pause = 0
        self.store.public.add('b')
        self.store.regions['b'] = 'eu-west-7'
        command = self.command([], 'out.jsonl')
        command[-1] = ('file-source location=s3://b/d/0.jsonl s3.anonymous=true ! jsonl-reader ! jsonl-sink location=0.jsonl '
                       'file-source location=s3://b/d/1.jsonl s3.region=eu-west-7 ! jsonl-reader ! jsonl-sink '
                       'location=1.jsonl')
        done = self.run_program(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        for i in range(2):
            self.assertEqual(self.read('%d.jsonl' % i).replace(b'":"', b'": "'), self.store.buckets['b']['d/%d.jsonl' % i])
            used = {'Authorization' in r[2] for r in self.store.requests if r[1] == '/b/d/%d.jsonl' % i}
            self.assertEqual(used, {i == 1})
        # Said before, it is in the region where it is.
        self.assertTrue(all('eu-west-7' in r[2].get('Authorization', 'eu-west-7') for r in self.store.requests))
        command[-1] = command[-1].replace('s3.region', 's3.regin')
        done = self.run_program(command)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b's3.region', done.stderr)

    def test_wrong_is_found_first(self):
        self.set_keys('AKTEST', 'secret-of-nobody')
        done = self.launch(['s3://b/d/*.jsonl'], 'out.jsonl')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b'SignatureDoesNotMatch', done.stderr)


if __name__ == '__main__':
    tap.main()
