#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""s3:// against moto's server, and the stored signatures against botocore.

usage: test_s3.py TREE; environment: DLPIPE_PROBE, DLPIPE_LAUNCH, DLPIPE_PLUGIN_PATH. Prints TAP."""
import hashlib
import json
import os
import sys
import urllib.request

TREE = sys.argv.pop(1)
sys.path[:0] = [os.path.join(TREE, 'tests', 'lib'), os.path.join(TREE, 'tests', 'peers')]
for name in list(os.environ):
    if name.startswith('AWS_'):
        del os.environ[name]
os.environ.update(AWS_ACCESS_KEY_ID='AKADMIN', AWS_SECRET_ACCESS_KEY='secret-of-admin', AWS_DEFAULT_REGION='us-east-1')

import boto3  # noqa: E402
import moto.server  # noqa: E402

import make_s3_signatures  # noqa: E402
import probe  # noqa: E402
import tap  # noqa: E402

NAMES = ['a b', 'a+b', 'a%20b', 'a&b=c', 'a#b', 'a\u00e4\u4e2d', "a'b\"<c>", 'a]b']
POLICY = json.dumps({'Version': '2012-10-17', 'Statement': [
    {'Effect': 'Allow', 'Action': ['s3:GetObject', 's3:ListBucket'], 'Resource': '*'}]})


def make_client(service, uri):
    return boto3.client(service, endpoint_url=uri)


class Signatures(probe.Case):
    def test_stored(self):
        with open(os.path.join(TREE, 'plugins', 's3', 'tests', 'signatures.tsv')) as file:
            self.assertEqual(make_s3_signatures.make(), file.read())


class Moto(probe.Case):
    secrets = ('secret-of-',)

    @classmethod
    def setUpClass(cls):
        cls.server = moto.server.ThreadedMotoServer('127.0.0.1', 0, verbose=False)
        cls.server.start()
        cls.uri = 'http://%s:%d' % cls.server.get_host_and_port()
        cls.s3 = make_client('s3', cls.uri)
        cls.s3.create_bucket(Bucket='bucket')
        cls.objects = {'many/%04d.jsonl' % i: b'{"text": "%d"}\n' % i for i in range(2500)}
        cls.objects.update({'names/' + name: name.encode() for name in NAMES})
        cls.objects.update({'big.jsonl': probe.make_lines(1, 10000), 'empty': b''})
        for key, data in cls.objects.items():
            cls.s3.put_object(Bucket='bucket', Key=key, Body=data)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        super().setUp()
        self.env.update(AWS_ENDPOINT_URL=self.uri, AWS_EC2_METADATA_DISABLED='true')
        self.set_keys('AKADMIN', 'secret-of-admin')

    def set_keys(self, access_key, secret, token=None):
        self.env.update(AWS_ACCESS_KEY_ID=access_key, AWS_SECRET_ACCESS_KEY=secret)
        self.env.pop('AWS_SESSION_TOKEN', None)
        if token:
            self.env['AWS_SESSION_TOKEN'] = token

    def enforce(self, after):
        """From then on moto checks signatures and policies."""
        urllib.request.urlopen(urllib.request.Request(self.uri + '/moto-api/reset-auth', str(after).encode(),
                                                      {'Content-Type': 'text/plain'}, method='POST'))

    def test_list(self):
        for pattern, prefix in (('s3://bucket/many/*.jsonl', 'many/'), ('s3://bucket/names/*', 'names/')):
            wanted = sorted((key for key in self.objects if key.startswith(prefix)), key=lambda key: key.encode())
            files = self.list(pattern)
            self.assertEqual([uri for uri, _, _ in files], ['s3://bucket/' + key for key in wanted])
            for (_, size, identity), key in zip(files, wanted):
                self.assertEqual(int(size), len(self.objects[key]))
                self.assertEqual(identity, 'etag="%s"' % hashlib.md5(self.objects[key]).hexdigest())

    def test_read(self):
        for name in NAMES:
            self.assertEqual(self.cat('s3://bucket/names/' + name), name.encode())
        self.assertEqual(self.cat('s3://bucket/empty'), b'')
        for offset in (0, 1, 65536, 1000000, len(self.objects['big.jsonl']) - 1):
            self.assertEqual(self.cat('s3://bucket/big.jsonl', offset=offset), self.objects['big.jsonl'][offset:])

    def test_run(self):
        done = self.launch(['s3://bucket/many/*.jsonl'], 'out.jsonl')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read('out.jsonl').replace(b'":"', b'": "'), b''.join(
            data for key, data in sorted(self.objects.items()) if key.startswith('many/')))

    def test_missing(self):
        self.assert_refused('s3://bucket/none', 'NoSuchKey')
        self.assert_refused('s3://none/*', 'NoSuchBucket')

    def test_credentials(self):
        iam, sts = make_client('iam', self.uri), make_client('sts', self.uri)
        iam.create_user(UserName='reader')
        iam.put_user_policy(UserName='reader', PolicyName='p', PolicyDocument=POLICY)
        key = iam.create_access_key(UserName='reader')['AccessKey']
        role = iam.create_role(RoleName='r', AssumeRolePolicyDocument='{}')['Role']['Arn']
        iam.put_role_policy(RoleName='r', PolicyName='p', PolicyDocument=POLICY)
        session = sts.assume_role(RoleArn=role, RoleSessionName='session')['Credentials']
        self.enforce(0)
        try:
            self.check_credentials(key, session)
        finally:
            self.enforce(10 ** 9)

    def check_credentials(self, key, session):
        data = self.objects['big.jsonl']
        self.set_keys(key['AccessKeyId'], key['SecretAccessKey'])
        self.assertEqual(self.cat('s3://bucket/big.jsonl', offset=7), data[7:])
        self.assertEqual(len(self.list('s3://bucket/many/*')), 2500)
        self.assertEqual(len(self.list('s3://bucket/names/*')), len(NAMES))
        self.set_keys(key['AccessKeyId'], 'secret-of-nobody')
        self.assert_refused('s3://bucket/big.jsonl', 'SignatureDoesNotMatch')
        self.set_keys('AKIANOBODY', 'secret-of-nobody')
        self.assert_refused('s3://bucket/big.jsonl', 'InvalidAccessKeyId')
        self.set_keys(session['AccessKeyId'], session['SecretAccessKey'], session['SessionToken'])
        self.assertEqual(self.cat('s3://bucket/big.jsonl'), data)
        # What a session that is over looks like to moto; read again, they are those of the profile.
        self.set_keys(session['AccessKeyId'], session['SecretAccessKey'], 'over')
        self.assert_refused('s3://bucket/big.jsonl', 'InvalidToken')
        for variable in ('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'):
            del self.env[variable]
        self.write('give', '#!/bin/sh\nif [ -e %s ]; then t=%s; else t=over; fi; touch %s\n'
                   'echo "{\\"AccessKeyId\\": \\"%s\\", \\"SecretAccessKey\\": \\"%s\\", \\"SessionToken\\": \\"$t\\"}"\n' % (
                       self.path('once'), session['SessionToken'], self.path('once'), session['AccessKeyId'],
                       session['SecretAccessKey']))
        os.chmod(self.path('give'), 0o700)
        self.write('.aws/config', '[default]\ncredential_process = %s\n' % self.path('give'))
        self.assertEqual(self.cat('s3://bucket/big.jsonl'), data)


if __name__ == '__main__':
    tap.main()
